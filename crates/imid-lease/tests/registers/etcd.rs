//! Lists of etcd, which transfer only what has changed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use imid_lease::register::open_url;

use crate::proxy::Proxy;
use crate::store::{LONG, Store, fresh_key};

/// Deletes a record, as no register does.
fn delete(store: &Store, key: &str) {
    let key = BASE64_STANDARD.encode(format!("imid-register/{key}"));
    let url = format!("http://{}/v3/kv/deleterange", store.address());
    let mut reply = ureq::post(url).send(format!(r#"{{"key":"{key}"}}"#)).unwrap();
    let text = reply.body_mut().read_to_string().unwrap();
    assert!(text.contains(r#""deleted":"1""#), "{text}");
}

pub(crate) fn a_deleted_record_is_not_listed(store: &Store) {
    let (mut reader, mut writer, root) = (store.open(), store.open(), fresh_key());
    let key = |name: u32| format!("{root}/{name}");
    for name in 0..3 {
        assert!(writer.compare_and_set(&key(name), None, "1").unwrap());
    }
    let mut listed = || reader.list(&key(0)[..=root.len()]).unwrap();
    let records = |names: &[(u32, &str)]| -> Vec<_> {
        names.iter().map(|&(name, value)| (key(name), value.to_owned())).collect()
    };
    assert_eq!(listed(), records(&[(0, "1"), (1, "1"), (2, "1")]));
    delete(store, &key(1));
    assert_eq!(listed(), records(&[(0, "1"), (2, "1")]));
    // As many as before.
    delete(store, &key(0));
    assert!(writer.compare_and_set(&key(3), None, "1").unwrap());
    assert_eq!(listed(), records(&[(2, "1"), (3, "1")]));
    delete(store, &key(2));
    assert!(writer.compare_and_set(&key(2), None, "2").unwrap());
    assert_eq!(listed(), records(&[(2, "2"), (3, "1")]));
    delete(store, &key(2));
    delete(store, &key(3));
    assert_eq!(listed(), []);
}

pub(crate) fn a_list_after_another_transfers_what_has_changed(store: &Store) {
    let (proxy, mut writer, root) = (Proxy::new(store.address()), store.open(), fresh_key());
    let mut reader = open_url(&store.url_at(&proxy.address), LONG).unwrap();
    for name in 0..200 {
        assert!(writer.compare_and_set(&format!("{root}/{name}"), None, &"v".repeat(100)).unwrap());
    }
    let mut bytes = |count: usize| {
        let before = proxy.replied();
        assert_eq!(reader.list(&root).unwrap().len(), count);
        proxy.replied() - before
    };
    let all = bytes(200);
    assert!(all > 200 * 100, "{all}");
    assert!(writer.compare_and_set(&format!("{root}/0"), Some(&"v".repeat(100)), "changed").unwrap());
    assert!(writer.compare_and_set(&format!("{root}/200"), None, "new").unwrap());
    let changed = bytes(201);
    assert!(changed < 2_000, "{changed} of {all}");
}
