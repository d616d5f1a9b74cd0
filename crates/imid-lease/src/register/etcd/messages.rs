//! The messages of etcd's API (`rpc.proto` and `kv.proto`), with the fields that a register needs.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct RangeRequest {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    /// The first key after the range; empty for `key` alone.
    #[prost(string, tag = "2")]
    pub(super) range_end: String,
}

impl RangeRequest {
    pub(super) fn of_key(key: String) -> Self {
        Self { key, ..Self::default() }
    }

    /// Asks for all keys with a prefix, which is not empty.
    pub(super) fn of_prefix(key: String) -> Self {
        // The end is the prefix with its last byte one greater. All bytes of keys are below 0x7f.
        let mut range_end = key.clone();
        let last = range_end.pop().map_or('\0', |last| char::from(last as u8 + 1));
        range_end.push(last);
        Self { range_end, ..Self::of_key(key) }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "2")]
    pub(super) pairs: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "5")]
    pub(super) value: String,
}

/// The puts happen if the comparison holds.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TxnRequest {
    #[prost(message, optional, tag = "1")]
    pub(super) compare: Option<Compare>,
    #[prost(message, optional, tag = "2")]
    pub(super) success: Option<RequestOp>,
}

impl TxnRequest {
    /// Puts a value if the key still has the one that was seen; `None` if there was no key.
    pub(super) fn compare_and_put(key: String, seen: Option<&str>, value: &str) -> Self {
        let target = if seen.is_some() { Compare::VALUE } else { Compare::CREATE };
        let compare = Compare { target, key: key.clone(), value: seen.map(str::to_owned) };
        let put = PutRequest { key, value: value.into() };
        Self { compare: Some(compare), success: Some(RequestOp { put: Some(put) }) }
    }
}

/// Something of a key equals this.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Compare {
    #[prost(int32, tag = "2")]
    pub(super) target: i32,
    #[prost(string, tag = "3")]
    pub(super) key: String,
    /// For [`VALUE`](Self::VALUE). Without a revision, [`CREATE`](Self::CREATE) compares with 0: there is no such key.
    #[prost(string, optional, tag = "7")]
    pub(super) value: Option<String>,
}

impl Compare {
    const CREATE: i32 = 1;
    const VALUE: i32 = 3;
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RequestOp {
    #[prost(message, optional, tag = "2")]
    pub(super) put: Option<PutRequest>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PutRequest {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TxnResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<ResponseHeader>,
    #[prost(bool, tag = "2")]
    pub(super) succeeded: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AuthenticateRequest {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) password: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AuthenticateResponse {
    #[prost(string, tag = "2")]
    pub(super) token: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StatusResponse {
    #[prost(int64, tag = "3")]
    pub(super) db_size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResponseHeader {
    #[prost(int64, tag = "3")]
    pub(super) revision: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AlarmResponse {
    #[prost(message, repeated, tag = "2")]
    pub(super) alarms: Vec<AlarmMember>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AlarmMember {
    #[prost(int32, tag = "2")]
    pub(super) alarm: i32,
}
