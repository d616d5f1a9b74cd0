//! The settings after `?` in a URL, of which the client of a store does not know all.

use percent_encoding::percent_decode_str;

use super::RegisterError;

/// The settings of a URL.
pub(super) struct Words {
    store: &'static str,
    /// The URL without its settings.
    rest: String,
    /// `name=value`, as in the URL.
    settings: Vec<String>,
}

impl Words {
    /// Splits the URL of a store.
    pub(super) fn split(store: &'static str, url: &str) -> Self {
        // A password can have a question mark.
        let (rest, settings) = url.rsplit_once('?').unwrap_or((url, ""));
        let settings = settings.split('&').filter(|setting| !setting.is_empty()).map(str::to_owned).collect();
        Self { store, rest: rest.to_owned(), settings }
    }

    /// Removes a setting and returns its value. Errors do not repeat values, because a password may be among them.
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

    /// Returns the first setting whose name is such.
    #[allow(dead_code, reason = "some stores ask")]
    pub(super) fn find(&self, is_name: impl Fn(&str) -> bool) -> Option<&str> {
        self.settings.iter().map(|setting| name_of(setting)).find(|name| is_name(name))
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

fn name_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn a_setting_is_taken_out_of_the_url() {
        let mut words = Words::split("X", "x://u:p@h/db?a=1&b=%2Fetc%2Fca.pem&c=3");
        assert_eq!(words.take("b").unwrap().as_deref(), Some("/etc/ca.pem"));
        assert_eq!(words.take("b").unwrap(), None);
        assert_eq!(words.find(|name| name.starts_with('c')), Some("c"));
        assert_eq!(words.url(), "x://u:p@h/db?a=1&c=3");
        assert!(words.take("a").unwrap().is_some() && words.take("c").unwrap().is_some());
        assert_eq!(words.url(), "x://u:p@h/db");
    }

    #[test]
    fn a_setting_without_a_value_or_with_two_is_an_error_that_does_not_repeat_them() {
        for (url, expected) in [
            ("x://h?a=secret&a=secret", "`a` once"),
            ("x://h?a=", "a value of `a`"),
            ("x://h?a", "a value of `a`"),
            ("x://h?a=secret%ff", "a value of `a` in UTF-8"),
        ] {
            let error = Words::split("X", url).take("a").unwrap_err().to_string();
            assert_eq!(error, format!("cannot read the X URL: expected {expected}"));
        }
    }
}
