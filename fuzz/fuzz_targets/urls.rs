//! Law: the URL of a register is opened or refused, and no error shows its password.
#![no_main]

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url_read_only, tool::store_of_url};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// It has all classes of characters that a URL treats differently, and is not a part of a message.
const PASSWORD: &str = "S3cr3tQx7";

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    scheme: u8,
    user: &'a str,
    before: &'a str,
    after: &'a str,
    rest: &'a str,
}

const SCHEMES: [&str; 9] =
    ["postgres", "postgresql", "mysql", "mariadb", "redis", "etcd", "zookeeper", "https", "valkey"];

fuzz_target!(|input: Input| {
    let Input { user, before, after, rest, .. } = input;
    let scheme = SCHEMES[usize::from(input.scheme) % SCHEMES.len()];
    let url = format!("{scheme}://{user}:{before}{PASSWORD}{after}@db{rest}");
    assert!(store_of_url(&url).is_some());
    for url in [&*url, &url.replacen("://", ":", 1), &url.replacen('@', "", 1), rest] {
        // A path is a file of this machine.
        if url.starts_with("file:") {
            continue;
        }
        if let Err(error) = open_url_read_only(url, DEFAULT_TIME_LIMIT) {
            let words = format!("{error:#} {error:?}");
            assert!(!words.contains(PASSWORD), "{words}");
            assert!(!words.is_empty());
        }
    }
});
