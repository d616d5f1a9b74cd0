//! The names of session types, by code.

/// Pairs of a code and its name, in a slice of the caller or in an [`OwnedDialect`](super::OwnedDialect).
#[derive(Clone, Copy)]
pub(super) enum Names<'a> {
    Borrowed(&'a [(u8, &'a str)]),
    #[cfg(feature = "std")]
    Owned(&'a [OwnedName]),
}

#[cfg(feature = "std")]
pub(super) type OwnedName = (u8, Box<str>);

impl<'a> Names<'a> {
    /// Returns the first name of a code.
    pub(super) fn name_of(self, code: u8) -> Option<&'a str> {
        let has_code = |(known, _): &(u8, &str)| *known == code;
        self.find(has_code).map(|(_, name)| name)
    }

    /// Returns the first code with this name, in any case.
    pub(super) fn code_of(self, name: &str) -> Option<u8> {
        let has_name = |(_, known): &(u8, &str)| known.eq_ignore_ascii_case(name);
        self.find(has_name).map(|(code, _)| code)
    }

    fn find(self, is_wanted: impl Fn(&(u8, &'a str)) -> bool) -> Option<(u8, &'a str)> {
        match self {
            Self::Borrowed(names) => names.iter().copied().find(is_wanted),
            #[cfg(feature = "std")]
            Self::Owned(names) => names.iter().map(|(code, name)| (*code, &**name)).find(is_wanted),
        }
    }

    /// Copies the names.
    #[cfg(feature = "std")]
    pub(super) fn to_owned(self) -> Box<[OwnedName]> {
        match self {
            Self::Borrowed(names) => names.iter().map(|(code, name)| (*code, Box::from(*name))).collect(),
            Self::Owned(names) => names.into(),
        }
    }
}
