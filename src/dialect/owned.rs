//! A dialect that owns its names.

use core::fmt;

use super::Dialect;
use super::layout::Layout;
use super::names::{Names, OwnedName};
use crate::codec::form::Form;

/// A dialect that owns its names, for example one that a program reads from a configuration file. It can be kept in a
/// struct or in a static.
///
/// [`Dialect::into_owned`] makes it. [`as_dialect`](Self::as_dialect) returns the dialect, which has all the methods.
///
/// ```
/// use imid::MessageId;
/// use imid::dialect::{Dialect, DialectError, OwnedDialect};
///
/// /// The settings of a chat, as a file has them.
/// struct Settings {
///     digits: [u8; 32],
///     types: Vec<(u8, String)>,
/// }
///
/// struct Chat {
///     dialect: OwnedDialect,
/// }
///
/// impl Chat {
///     fn new(name: &str, settings: &Settings) -> Result<Self, DialectError> {
///         let types: Vec<_> = settings.types.iter().map(|(code, name)| (*code, name.as_str())).collect();
///         let dialect = Dialect::try_new(name, &settings.digits)?.with_type_names(&types);
///         Ok(Self { dialect: dialect.into_owned() })
///     }
/// }
///
/// let settings = Settings { digits: *b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", types: vec![(2, "ROOM".to_owned())] };
/// let chat = Chat::new("ours", &settings)?;
/// drop(settings);
///
/// let ours = chat.dialect.as_dialect();
/// assert_eq!((ours.name(), ours.type_name(2)), ("ours", Some("ROOM")));
/// assert_eq!(ours.to_text(MessageId::MAX)?, "ZZZZ-ZZZZ-ZZZZ-ZZZZ");
/// # Ok::<(), DialectError>(())
/// ```
// A `Dialect` that owns its names could not be built in a constant: constants cannot drop a `Result` that owns memory.
#[derive(Clone)]
pub struct OwnedDialect {
    name: Box<str>,
    layout: Layout,
    form: Form,
    hash: Option<fn(&str) -> u32>,
    types: Box<[OwnedName]>,
    channels: Box<[OwnedName]>,
}

impl OwnedDialect {
    /// Returns the dialect. It borrows the names and copies its digits, less than 400 bytes. So call this before a loop and
    /// not inside of it.
    pub const fn as_dialect(&self) -> Dialect<'_> {
        let Self { name, layout, form, hash, types, channels } = self;
        Dialect {
            name,
            layout: *layout,
            form: *form,
            hash: *hash,
            types: Names::Owned(types),
            channels: Names::Owned(channels),
        }
    }
}

impl Dialect<'_> {
    /// Copies the names, so that the dialect no longer borrows them.
    pub fn into_owned(self) -> OwnedDialect {
        let Self { name, layout, form, hash, types, channels } = self;
        let (types, channels) = (types.to_owned(), channels.to_owned());
        OwnedDialect { name: name.into(), layout, form, hash, types, channels }
    }
}

impl From<Dialect<'_>> for OwnedDialect {
    fn from(dialect: Dialect<'_>) -> Self {
        dialect.into_owned()
    }
}

impl<'a> From<&'a OwnedDialect> for Dialect<'a> {
    fn from(dialect: &'a OwnedDialect) -> Self {
        dialect.as_dialect()
    }
}

impl fmt::Debug for OwnedDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnedDialect({})", self.name)
    }
}
