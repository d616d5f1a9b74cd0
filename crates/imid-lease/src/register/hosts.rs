//! The URLs of stores whose clients have none: `SCHEME://user:password@host:port,host:port/path`.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use percent_encoding::percent_decode_str;

use super::RegisterError;
use super::query::Words;
use super::remote::Failure;
use super::tls::{Tls, check_feature};
use super::worker::Password;

/// A user, and the password if the URL has one.
pub(super) type User = (String, Option<String>);

/// The user or the password is missing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Incomplete(String);

/// Returns the user and the password of a URL and of `password_with`.
pub(super) async fn login<'a>(
    scheme: &str,
    user: Option<&'a User>,
    password: Option<&Password>,
) -> Result<Option<(&'a str, String)>, Failure> {
    match (user, password) {
        (None, None) => Ok(None),
        (Some((name, _)), Some(password)) => Ok(Some((name, password.make().await?))),
        (Some((name, Some(password))), None) => Ok(Some((name, password.clone()))),
        (None, Some(_)) => {
            let expected = format!("expected a user in the URL for `password_with`, as in {scheme}://user@host");
            Err(Incomplete(expected).into())
        }
        // The text there may be meant as the password.
        (Some((_, None)), None) => Err(Incomplete(format!(
            "expected a password after the user in the URL, as in {scheme}://user:password@host, or `password_with`"
        ))
        .into()),
    }
}

/// The parts of such a URL.
pub(super) struct Hosts {
    pub(super) user: Option<User>,
    /// `host:port` of each server.
    pub(super) addresses: Vec<String>,
    /// Empty, or from the first `/` on.
    pub(super) path: String,
    /// `None` for plain text.
    pub(super) tls: Option<Tls>,
}

impl Hosts {
    /// Reads the URL of a store. `secure` are the schemes that ask for TLS. Errors do not repeat the text, because a
    /// password may be in it.
    pub(super) fn parse(
        url: &str,
        store: &'static str,
        scheme: &str,
        secure: &[&str],
        default_port: u16,
    ) -> Result<Self, RegisterError> {
        let mut words = Words::split(store, url)?;
        let wrong = |expected: &str| RegisterError::new(format!("cannot read the {store} URL: expected {expected}"));
        let found = url.split_once("://").map_or("", |(found, _)| found);
        let tls = if secure.contains(&found) {
            check_feature(store, &format!("{found}://"))?;
            Some(Tls::from_words(&mut words, ["cacert", "cert", "key"])?.unwrap_or_default())
        } else if found == scheme {
            None
        } else {
            return Err(wrong(&format!("{scheme}://host:port or {}://host:port", secure[0])));
        };
        // Settings such as `?ssl=true` must not be ignored.
        let text = words.url();
        if text.contains(['?', '#']) {
            let expected = match tls {
                Some(_) => "no settings but `cacert`, `cert` and `key`, and no `#`".to_owned(),
                None => format!("no `?` and no `#`, or {}:// for TLS", secure[0]),
            };
            return Err(wrong(&expected));
        }
        // Clients of etcd name each member with its scheme.
        let rest = text[found.len() + 3..].replace(&format!(",{found}://"), ",");
        let (authority, path) = rest.find('/').map_or((&*rest, ""), |slash| rest.split_at(slash));
        let (user, hosts) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, hosts)) => {
                let (name, password) = user.split_once(':').map_or((user, None), |(name, word)| (name, Some(word)));
                if name.is_empty() {
                    return Err(wrong("a user before @"));
                }
                let decoded = |text| percent_decode_str(text).decode_utf8().map(Cow::into_owned);
                match (decoded(name), password.map(decoded).transpose()) {
                    (Ok(name), Ok(password)) => (Some((name, password)), hosts),
                    _ => return Err(wrong("a user and a password in UTF-8")),
                }
            }
        };
        let addresses = hosts.split(',').map(|host| match host.rsplit_once(':') {
            // The colons of an IPv6 address are in brackets.
            Some((name, port)) if !port.ends_with(']') => match port.parse::<u16>() {
                Ok(port) if is_host(name) => Ok(format!("{name}:{port}")),
                _ => Err(wrong("host:port")),
            },
            _ if host.is_empty() => Err(wrong("a host")),
            _ if is_host(host) => Ok(format!("{host}:{default_port}")),
            _ => Err(wrong("host:port")),
        });
        let addresses = addresses.collect::<Result<_, _>>()?;
        Ok(Self { user, addresses, path: path.trim_end_matches('/').to_owned(), tls })
    }
}

/// Returns the name or the IP address in `host:port`.
#[cfg(feature = "tls")]
pub(super) fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Returns whether this is a name, or an IPv6 address in brackets.
fn is_host(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !text.is_empty() && !text.contains(['[', ']', ':']),
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn a_url_has_hosts_and_may_have_a_user_and_a_path() {
        let parsed =
            Hosts::parse("x://a%40b:c%3Ad@h1:1,h2,[::1]:3,[::2]/chat/ids/", "X", "x", &["xs", "https"], 99).unwrap();
        assert_eq!(parsed.user, Some(("a@b".into(), Some("c:d".into()))));
        assert_eq!(parsed.addresses, ["h1:1", "h2:99", "[::1]:3", "[::2]:99"]);
        assert_eq!(parsed.path, "/chat/ids");
        let parsed = Hosts::parse("x://u@h", "X", "x", &["xs", "https"], 99).unwrap();
        assert_eq!(parsed.user, Some(("u".into(), None)));
        let parsed = Hosts::parse("x://h", "X", "x", &["xs", "https"], 99).unwrap();
        assert_eq!((parsed.user, parsed.addresses, parsed.path), (None, vec!["h:99".into()], String::new()));
    }
}
