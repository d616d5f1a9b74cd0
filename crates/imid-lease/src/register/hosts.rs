//! The URLs of stores whose clients have none: `SCHEME://user:password@host:port,host:port/path`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::{RegisterError, no_tls};

/// The parts of such a URL.
pub(super) struct Hosts {
    /// User and password.
    pub(super) user: Option<(String, String)>,
    /// `host:port` of each server.
    pub(super) addresses: Vec<String>,
    /// Empty, or from the first `/` on.
    pub(super) path: String,
}

impl Hosts {
    /// Reads the URL of a store. Errors do not repeat the text, because a password may be in it.
    pub(super) fn parse(url: &str, store: &str, scheme: &str, default_port: u16) -> Result<Self, RegisterError> {
        let wrong = |expected: &str| RegisterError::new(format!("cannot read the {store} URL: expected {expected}"));
        let rest = match url.split_once("://") {
            Some((found, rest)) if found == scheme => rest,
            // Without this check a URL that asks for TLS would be read as one that does not.
            Some((found, _)) if found == "https" || found.strip_suffix('s') == Some(scheme) => {
                return Err(no_tls(store, &format!("{found}://")));
            }
            _ => return Err(wrong(&format!("{scheme}://host:port"))),
        };
        // Settings such as `?ssl=true` must not be ignored.
        if rest.contains(['?', '#']) {
            return Err(wrong("no `?` and no `#`"));
        }
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        let (user, hosts) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, hosts)) => {
                let (name, password) = user.split_once(':').ok_or_else(|| wrong("user:password before @"))?;
                let decoded = |text| percent_decode_str(text).decode_utf8().map(Cow::into_owned);
                match (decoded(name), decoded(password)) {
                    (Ok(name), Ok(password)) => (Some((name, password)), hosts),
                    _ => return Err(wrong("a user and a password in UTF-8")),
                }
            }
        };
        let addresses = hosts.split(',').map(|host| match host.rsplit_once(':') {
            // The colons of an IPv6 address are in brackets.
            Some((name, port)) if !port.ends_with(']') => match port.parse::<u16>() {
                Ok(port) if !name.is_empty() && (name.ends_with(']') || !name.contains(':')) => {
                    Ok(format!("{name}:{port}"))
                }
                _ => Err(wrong("host:port")),
            },
            _ if host.is_empty() => Err(wrong("a host")),
            _ => Ok(format!("{host}:{default_port}")),
        });
        Ok(Self { user, addresses: addresses.collect::<Result<_, _>>()?, path: path.trim_end_matches('/').to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn a_url_has_hosts_and_may_have_a_user_and_a_path() {
        let parsed = Hosts::parse("x://a%40b:c%3Ad@h1:1,h2,[::1]:3,[::2]/chat/ids/", "X", "x", 99).unwrap();
        assert_eq!(parsed.user, Some(("a@b".into(), "c:d".into())));
        assert_eq!(parsed.addresses, ["h1:1", "h2:99", "[::1]:3", "[::2]:99"]);
        assert_eq!(parsed.path, "/chat/ids");
        let parsed = Hosts::parse("x://h", "X", "x", 99).unwrap();
        assert_eq!((parsed.user, parsed.addresses, parsed.path), (None, vec!["h:99".into()], String::new()));
    }

    #[test]
    fn an_error_does_not_repeat_the_password() {
        for (url, expected) in [
            ("x:secret@h", "x://host:port"),
            ("y://u:secret@h", "x://host:port"),
            ("x://secret@h", "user:password before @"),
            ("x://u:secret@", "a host"),
            ("x://u:secret@h:port", "host:port"),
            ("x://u:secret@h:99999", "host:port"),
            ("x://u:secret@::1", "host:port"),
            ("x://u:secret@h?ssl=true", "no `?` and no `#`"),
            ("x://u:secret@h/chat?ssl=true", "no `?` and no `#`"),
            ("x://u:secret%ff@h", "a user and a password in UTF-8"),
        ] {
            let error = Hosts::parse(url, "X", "x", 99).err().unwrap().to_string();
            assert_eq!(error, format!("cannot read the X URL: expected {expected}"));
        }
    }
}
