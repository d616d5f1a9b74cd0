//! The settings after `?` in a URL. A store's client does not know all of them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::RegisterError;

/// The settings of a URL.
pub(super) struct Words {
    store: &'static str,
    /// The URL without its settings.
    pub(super) rest: String,
    /// `name=value`, as in the URL.
    settings: Vec<String>,
}

impl Words {
    /// Splits the URL of a store. Errors do not repeat names or values, because a part of a password may be among them.
    pub(super) fn split(store: &'static str, url: &str) -> Result<Self, RegisterError> {
        let (rest, settings) = url.split_once('?').unwrap_or((url, ""));
        let settings: Vec<_> =
            if settings.is_empty() { Vec::new() } else { settings.split('&').map(str::to_owned).collect() };
        let words = Self { store, rest: rest.to_owned(), settings };
        // A raw character of a password, or of a file's name, would end it at another place for the client than for us.
        if words.settings.iter().any(|setting| setting.is_empty() || setting.contains(['?', '@'])) {
            return Err(words.wrong(
                "after `?` only `name=value` with `&` between them, and `?`, `@` and `&` in passwords and values as %3F, %40 \
                 and %26",
            ));
        }
        Ok(words)
    }

    /// Removes a setting and returns its value.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<String>, RegisterError> {
        let mut values = self.settings.extract_if(.., |setting| name_of(setting) == name);
        let Some(setting) = values.next() else { return Ok(None) };
        let is_only_one = values.next().is_none();
        drop(values);
        let value = setting.split_once('=').map_or("", |(_, value)| value);
        match percent_decode_str(value).decode_utf8() {
            Ok(value) if is_only_one && !value.is_empty() => Ok(Some(value.into_owned())),
            Ok(_) if is_only_one => Err(self.wrong(&format!("a value of `{name}`"))),
            Ok(_) => Err(self.wrong(&format!("`{name}` once"))),
            Err(_) => Err(self.wrong(&format!("a value of `{name}` in UTF-8"))),
        }
    }

    /// Removes a setting if it has this value, and returns whether it did.
    #[allow(dead_code, reason = "some stores ask")]
    pub(super) fn take_if(&mut self, name: &str, value: &str) -> Result<bool, RegisterError> {
        let setting = format!("{name}={value}");
        if self.settings.contains(&setting) { self.take(name).map(|_| true) } else { Ok(false) }
    }

    /// Returns whether a setting that is left has a name that is not among these.
    #[allow(dead_code, reason = "some stores ask")]
    pub(super) fn has_others(&self, names: &[&str]) -> bool {
        self.settings.iter().any(|setting| !names.contains(&&*name_of(setting)))
    }

    /// Returns the URL with the settings that are left.
    pub(super) fn url(&self) -> String {
        let separator = if self.settings.is_empty() { "" } else { "?" };
        format!("{}{separator}{}", self.rest, self.settings.join("&"))
    }

    /// Says what was expected in the URL.
    pub(super) fn wrong(&self, expected: &str) -> RegisterError {
        RegisterError::new(format!("cannot read the {} URL: expected {expected}", self.store))
    }
}

/// Refuses what may be a part of a password, and is something else to the crate `url`: a raw `/` or `#` ends the host.
#[cfg(any(feature = "mysql", feature = "redis"))]
pub(super) fn check_rest(words: &Words) -> Result<(), RegisterError> {
    let path = words.rest.split_once("://").map_or("", |(_, rest)| rest).split_once('/').map_or("", |(_, path)| path);
    if path.contains('@') || words.rest.contains('#') || words.settings.iter().any(|setting| setting.contains('#')) {
        return Err(words.wrong("no `#`, and `/`, `#` and `@` in passwords and names as %2F, %23 and %40"));
    }
    Ok(())
}

/// Returns the name of a setting, decoded as the clients decode it.
fn name_of(setting: &str) -> Cow<'_, str> {
    percent_decode_str(setting.split('=').next().unwrap_or_default()).decode_utf8_lossy()
}
