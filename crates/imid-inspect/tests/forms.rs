//! What people paste, and what the library answers. A text that is a form of an ID is read, whatever it was meant as: `BASE-CASE-DATA-PATH`
//! is one. Nothing else may be read as an ID, and no form as another ID.

use core::ops::Range;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE};
use imid::MessageId;
use imid_inspect::{BrokenKind, Form, Found, NotPasted, Pasted, Read, STANDARD, Scan, is_whole, read, spellings};
use proptest::prelude::*;

/// 2026-11-22T00:00:00Z.
const NOW: u64 = 1_795_305_600_000;

/// Of February 2010 (imported), November 2024, November 2025 (one has no digit) and November 2026.
const IDS: [&str; 5] =
    ["BK5Q-4S75-ZJ64-3BCD", "EMAQ-2948-WCRV-T3DD", "EUNC-Q8QJ-22GH-T3DD", "EUNC-QQJK-ABGH-TCDD", "F3ZC-FDXM-X8SH-T3DD"];

/// What the library answers.
fn answer(text: &str) -> String {
    let id = |id: imid_inspect::Id| format!("{} {id}", id.scheme_name());
    match read(text, NOW) {
        Ok(Pasted::One(readings)) => {
            let names: Vec<_> = readings.iter().map(|read| read.id.scheme_name()).collect();
            let of = if names == ["standard"] { String::new() } else { format!("{} ", names.join(" ")) };
            format!("read {} {of}{}", readings[0].form.name(), readings[0].id)
        }
        Ok(Pasted::Text(scan)) => format!("inside {}", id(scan.ids[0].read.id)),
        Err(NotPasted { error, instead: Pasted::Text(scan) }) => {
            match scan.broken.map(|broken| (broken.at, broken.kind)) {
                Some((_, BrokenKind::CutOff(cut))) => format!("cut off {}", cut[0].digits),
                Some((word, BrokenKind::Mistyped { at, texts })) => match text.trim()[word][at..].chars().next() {
                    Some(found) => format!("wrong {found} {}", texts.len()),
                    None => format!("no padding {}", read(&texts[0], NOW).map(one).unwrap()),
                },
                None if !scan.others.is_empty() => format!("numbers {}", scan.others.len()),
                None if error.is_foreign() => {
                    let message = error.to_string();
                    format!("foreign {}", message.split(", not ").next().unwrap())
                }
                None => "refused".to_owned(),
            }
        }
        Err(error) => format!("another ID: {error:?}"),
    }
}

/// The standard ID that a text is.
fn one(pasted: Pasted) -> String {
    let Pasted::One(readings) = pasted else { panic!("one ID") };
    readings[0].id.to_string()
}

/// The forms of an ID, by the letter that stands for each in a pattern.
fn fill(pattern: &str, id: &str) -> String {
    let value: MessageId = id.parse().unwrap();
    let (bytes, int) = (value.to_bytes(), value.to_u128().to_string());
    let read = STANDARD.parse(id.as_bytes()).unwrap();
    let (hex, uuid) = (read.in_form(Form::Hex).unwrap(), read.in_form(Form::Uuid).unwrap());
    let joined = |separator: &str| id.replace('-', separator);
    let list = |byte: fn(&u8) -> String, separator: &str| bytes.iter().map(byte).collect::<Vec<_>>().join(separator);
    let grouped = |separator: char| {
        let first = int.len() % 3;
        let is_start = |at: usize| at > 0 && at % 3 == first % 3;
        int.chars().enumerate().flat_map(|(at, c)| is_start(at).then_some(separator).into_iter().chain([c])).collect()
    };
    let full = id.chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).unwrap()).collect::<String>();
    let view = *value.to_uuid().as_bytes();
    let escaped = |bytes: &[u8], escape: fn(u8) -> String| -> String {
        let plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !b"\\\"'".contains(&byte);
        bytes.iter().map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { escape(*byte) }).collect()
    };
    // As redis-cli and Python write them, and PostgreSQL with bytea_output = escape.
    let short = |byte: u8| match byte {
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'"' | b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        _ => format!("\\x{byte:02x}"),
    };
    let octal = |byte: u8| if byte == b'\\' { "\\\\".to_owned() } else { format!("\\{byte:03o}") };
    let pairs = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    let fours = bytes.chunks(2).map(|two| pairs(two).concat()).collect::<Vec<_>>().join(" ");
    let dump = format!("{}  {}", pairs(&bytes[..8]).join(" "), pairs(&bytes[8..]).join(" "));
    let values: [(&str, String); 43] = [
        ("T", id.to_owned()),
        ("t", id.to_lowercase()),
        ("P", joined("")),
        ("p", joined("").to_lowercase()),
        ("space", joined(" ")),
        ("under", joined("_")),
        ("en", joined("–")),
        ("em", joined("—")),
        ("minus", joined("−")),
        ("nbhy", joined("\u{2011}")),
        ("soft", joined("\u{ad}")),
        ("nbsp", joined("\u{a0}")),
        ("partly", format!("{}{}", id[..9].replace('-', ""), &id[9..])),
        ("full", full),
        ("h", hex.clone()),
        ("H", hex.to_uppercase()),
        ("i", int.clone()),
        ("i,", grouped(',')),
        ("i_", grouped('_')),
        ("i.", grouped('.')),
        ("i ", grouped(' ')),
        ("i'", grouped('\'')),
        ("u", uuid.clone()),
        ("U", uuid.to_uppercase()),
        ("simple", uuid.replace('-', "")),
        ("64", BASE64_STANDARD.encode(bytes)),
        ("64url", BASE64_URL_SAFE.encode(bytes)),
        ("64cut", BASE64_STANDARD_NO_PAD.encode(bytes)),
        ("64view", BASE64_STANDARD.encode(view)),
        ("bytes", list(u8::to_string, ", ")),
        ("signed", list(|byte| byte.cast_signed().to_string(), ", ")),
        ("packed", list(u8::to_string, ",")),
        ("pairs", pairs(&bytes).join(" ")),
        ("viewpairs", pairs(&view).join(" ")),
        ("colons", pairs(&bytes).join(":")),
        ("hyphens", pairs(&bytes).join("-").to_uppercase()),
        ("0x", list(|byte| format!("0x{byte:02x}"), ", ")),
        ("0xgo", list(|byte| format!("0x{byte:x}"), ", ")),
        ("esc", list(|byte| format!("\\x{byte:02x}"), "")),
        ("short", escaped(&bytes, short)),
        ("octal", escaped(&bytes, octal)),
        ("fours", fours),
        ("dump", dump),
    ];
    values.iter().fold(pattern.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Patterns that are read, by the form. Each stands for one text of each ID.
const READ: &[(&str, &[&str])] = &[
    ("text", &["{T}", " {T} ", "{T}\n", "\t{T}"]),
    (
        "lenient text",
        &[
            "{t}",
            "{P}",
            "{p}",
            "\"{T}\"",
            "'{T}'",
            "`{T}`",
            "“{T}”",
            "„{T}“",
            "«{T}»",
            "‘{T}’",
            "「{T}」",
            "({T})",
            "[{T}]",
            "<{T}>",
            "{{T}}",
            "{T},",
            "{T};",
            "{T}.",
            "{T}:",
            "{T}?",
            "\"{T}\",",
            "[\"{T}\"]",
            "[{T}, ",
            "*{T}*",
            "**{T}**",
            "~~{T}~~",
            "#{T}",
            "@{T}",
            "> {T}",
            "- {T}",
            "• {T}",
            "=\"{T}\"",
            "{space}",
            "{under}",
            "{en}",
            "{em}",
            "{minus}",
            "{nbhy}",
            "{soft}",
            "{nbsp}",
            "({space})",
            "\u{200b}{T}",
            "\u{feff}{T}",
            "{full}",
            "{partly}",
            "| {T} |",
            "+{T}",
            "-{T}",
            "{T}-",
        ],
    ),
    (
        "hex",
        &[
            "0x{h}",
            "0X{H}",
            "{h}",
            "{H}",
            "\"{h}\"",
            "\\x{h}",
            "'\\x{h}'",
            "X'{H}'",
            "x'{h}'",
            "0x{H},",
            "'\\x{h}'::bytea",
            "X'{H}'::blob",
            "E'\\\\x{h}'",
            "\\\\x{h}",
            "\\\\x{simple}",
            "0x{simple}",
            "HexData(0, \"{h}\")",
        ],
    ),
    ("int", &["{i}", "\"{i}\"", "{i}n", "{i},", "{i,}", "{i_}", "{i.}", "{i }", "{i'}", "{i}.0", "{i},00"]),
    ("uuid", &["{u}", "{U}", "{simple}", "\"{u}\"", "({u})", "{{u}}", "urn:uuid:{u}"]),
    (
        "base64",
        &[
            "{64}",
            "\"{64}\"",
            "{64url}",
            "{64view}",
            "BinData(0,\"{64}\")",
            "BinData(4, \"{64view}\")",
            "Binary.createFromBase64('{64}', 0)",
            "Binary.createFromBase64(\"{64}\")",
        ],
    ),
    (
        "bytes",
        &[
            "[{bytes}]",
            "[{signed}]",
            "[{packed}]",
            "{{signed}}",
            "({bytes})",
            "bytes: {bytes}",
            "b'{esc}'",
            "b\"{esc}\"",
            "b'{short}'",
            "bytearray(b'{short}')",
            "\"{short}\"",
            "1) \"{short}\"",
            "\"{esc}\"",
            "{short}",
            "{octal}",
            "'{octal}'",
            "[{0x}]",
            "{0x}",
            "{{0x}}",
            "[]byte{{0x}}",
            "[]byte{{0xgo}}",
            "[10]byte{{0xgo}}",
            "new byte[] { {0x} }",
            "<Buffer {pairs}>",
            "<Buffer {viewpairs}>",
            "Uint8Array(10) [{bytes}]",
            "Uint8Array(10) [\n  {bytes}\n]",
            "new Uint8Array([{packed}])",
            "{pairs}",
            "<{pairs}>",
            "{colons}",
            "{hyphens}",
            "“{pairs}”",
            "{pairs}>",
            "'{colons}',",
            "00000000: {fours}                 f.........k",
            "00000000  {dump}              |f.........k|\n0000000a",
            "00000000  {pairs}  |abcdefghij|",
        ],
    ),
];

/// Patterns in which the ID is located.
const INSIDE: &[&str] = &[
    "'{u}'::uuid",
    "{\"id\":\"{T}\"}",
    "{\"id\":{i}}",
    "{\"id\": \"{u}\"}",
    "{\\\"id\\\":\\\"{T}\\\"}",
    "12:00:01 INFO sent {T} to room-42",
    "2025-11-20T19:10:00.000Z WARN message={t} retries=3",
    "sent 0x{h} after a while",
    "message {i} was lost",
    "https://chat.example/m/{T}",
    "https://chat.example/m/{T}?q=1",
    "https://chat.example/?q=%22{T}%22",
    "[message](https://chat.example/m/{T})",
    "<a href=\"/m/{T}\">here</a>",
    "<id>{T}</id>",
    "curl -s localhost/m/{T} | jq .",
    "Hello, where is {T}? Thanks",
    "> The message {T} is missing.",
    "a,{T},b",
    "1\t{T}\thello",
    "\"{T}\";\"hello\"",
    "SELECT * FROM m WHERE id = '{T}';",
    "INSERT INTO m VALUES ('{T}', 'hello');",
    "WHERE id = decode('{h}', 'hex')",
    "WHERE id = UNHEX('{H}')",
    "WHERE id = '\\x{h}'::bytea",
    " {T} | hello",
    "{T} {T}",
    "id: {T}",
    "id = \"{T}\"",
    "ID={T}",
    "MessageId({T})",
    "Some(\"{T}\")",
    "Ok(MessageId(\"{T}\"))",
    "[32m{T}[0m",
    "\\u001b[32m{T}\\u001b[0m",
    "chat-{T}",
    "{T}.json",
    "backup_{T}_1.png",
    "key:{T}:value",
    "line\n{T}\nline",
    "&quot;{T}&quot;",
    "%22{T}%22",
    "%252F{T}",
    "msg_{T}",
    "{\"id\": \"{64}\"}",
    "{\"_id\": {\"$binary\": {\"base64\": \"{64}\", \"subType\": \"00\"}}}",
    "{\"id\":{\"$binary\":\"{64}\",\"$type\":\"00\"}}",
    "{\"_id\":BinData(0,\"{64}\"),\"text\":\"a\"}",
    "{ _id: Binary.createFromBase64('{64}', 0), text: 'a' }",
    "received <Buffer {pairs}> from room",
    "{ id: <Buffer {pairs}>, text: 'a' }",
    "{ id: Uint8Array(10) [{bytes}] }",
    "Message(id=b'{short}', text='a')",
    "{\"id\":[{packed}],\"text\":\"a\"}",
    "7,\\\\x{h},hello",
    "messageId: \"{p}\"",
    "<id>{p}</id>",
    "?msgid={p}&x=1",
    "/m/{p}?x=1",
];

/// Patterns that are refused, each with its answer.
const REFUSED: &[(&str, &str)] = &[
    ("{64cut}", "no padding ID"),
    ("{64cut}=", "no padding ID"),
    ("-{i}", "numbers 1"),
    ("0{i}", "refused"),
    ("{T}\u{212a}", "refused"),
    // Two bytes are swapped: `hexdump` without `-C`.
    ("0000000 {fours}\n000000a", "refused"),
    ("[{bytes}, 1]", "refused"),
    // A digit, an escape or the first byte is lost.
    ("[0{bytes}]", "refused"),
    ("00000000: 6 {fours}                 f.........k", "refused"),
    ("x{esc}'", "refused"),
    ("\"\\z{esc}\"", "refused"),
];

/// Other texts, each with its answer.
const OTHERS: &[(&str, &str)] = &[
    ("EUNC-Q8QJ-22GH-T3D", "cut off 15"),
    ("EUNC-Q8QJ-22GH-T3", "cut off 14"),
    ("EUNC-Q8QJ-22G…", "cut off 11"),
    ("EUNC-Q8QJ-22G...", "cut off 11"),
    ("EUNC-Q8QJ-", "cut off 8"),
    ("euncq8qj22", "cut off 10"),
    ("EUNC-Q8", "cut off 6"),
    ("\"EUNC-Q8QJ-22G", "cut off 11"),
    ("UNC-Q8QJ-22GH-T3DD", "refused"),
    ("Q8QJ-22GH-T3DD", "refused"),
    ("22GH-T3DD", "refused"),
    ("EUNC-Q8QJ-22GH-T3DDD", "wrong D 1"),
    ("EEUNC-Q8QJ-22GH-T3DD", "wrong E 1"),
    ("EUNC-Q8QJ-22GH-T30D", "wrong 0 2"),
    ("EUNC-Q8QJ-22GH-T3OD", "wrong O 2"),
    ("EUNC-Q8QJ-22GH-T31D", "wrong 1 4"),
    ("EUNC-Q8QJ-22GH-TID3", "wrong I 4"),
    ("EUNC-Q8QJ-00GH-T3DD", "refused"),
    ("EUNC-Q8QJ-22GHT-3DD", "refused"),
    ("EUNC-Q8QJ--22GH-T3DD", "read lenient text EUNC-Q8QJ-22GH-T3DD"),
    ("EUNC-Q8QJ-22GH-T3D!", "cut off 15"),
    ("EUNC-Q8QJ-22GH-T3ÖD", "refused"),
    ("ЕUNC-Q8QJ-22GH-T3DD", "refused"),
    ("EUNС-Q8QJ-22GH-T3DD", "refused"),
    ("0x66a8ab1ad0001cfc856", "refused"),
    ("66a8ab1ad0001cfc856", "refused"),
    ("66a8ab1ad0001cfc856b0", "refused"),
    ("0x66a8ab1ad0001cfc856b0", "refused"),
    ("0x66a8ab1ad0001cfc856g", "refused"),
    ("4.84793E+23", "refused"),
    ("4.84792763652715801511275E+23", "refused"),
    ("484792763652715801511275.0", "read int EUNC-Q8QJ-22GH-T3DD"),
    ("484792763652715801511275,00", "read int EUNC-Q8QJ-22GH-T3DD"),
    ("+484792763652715801511275", "read int EUNC-Q8QJ-22GH-T3DD"),
    ("1208925819614629174706176", "refused"),
    ("019aa2ac-6b40-7007-8fc8-56b00000000", "refused"),
    ("019aa2ac-6b40-4007-8fc8-56b000000000", "foreign a UUID of version 4 (random)"),
    ("BUFE-A62U-32C4-01I2", "read text rongcloud BUFE-A62U-32C4-01I2"),
    ("bufe-a62u-32c4-01i2", "read lenient text rongcloud BUFE-A62U-32C4-01I2"),
    ("\"BUFE-A62U-32C4-01I2\"", "read lenient text rongcloud BUFE-A62U-32C4-01I2"),
    ("5EGN-HLDB-K4Q4-LQ1G", "read text rongcloud-v1 5EGN-HLDB-K4Q4-LQ1G"),
    ("204697221847986177", "read text discord twitter-java twitter leaf 204697221847986177"),
    ("\"204697221847986177\"", "read lenient text discord twitter-java twitter leaf 204697221847986177"),
    ("1169786042799259000", "read text discord twitter-java twitter leaf 1169786042799259000"),
    ("0e1ac0d4168a6000", "read text nsq 0e1ac0d4168a6000"),
    ("175928847299117063,", "read lenient text discord twitter-java twitter leaf 175928847299117063"),
    ("550e8400-e29b-41d4-a716-446655440000", "foreign a UUID of version 4 (random)"),
    ("550e8400e29b41d4a716446655440000", "foreign a UUID of version 4 (random)"),
    ("0191e0c0-8e3a-7c3d-9b1a-2b3c4d5e6f70", "foreign a UUID of version 7 of 2024-09-11T11:03:21.402Z"),
    ("00000000-0000-0000-0000-000000000000", "foreign the nil UUID"),
    ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "foreign a UUID of version 1"),
    ("{550e8400-e29b-41d4-a716-446655440000}", "foreign a UUID of version 4 (random)"),
    ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "foreign a ULID of 2016-07-30T23:54:10.259Z"),
    ("01J9ZQ4Y6ZK3M8N7P5R2T4V6W8", "foreign a ULID of 2024-10-12T06:37:41.471Z"),
    ("msg_5f2b3c4d5e6fAbCdEfGhIjKlMn", "refused"),
    ("1763640000", "foreign a time in Unix seconds, 2025-11-20T12:00:00.000Z"),
    ("1763640000000", "foreign a time in Unix milliseconds, 2025-11-20T12:00:00.000Z"),
    ("2025-11-20T12:00:00Z", "refused"),
    ("b'f\\xa8\\xab\\x1a\\xd0\\x00\\x1c\\xfc\\x85\\'", "refused"),
    ("2025-11-20 12:00:00+00", "refused"),
    ("2025-11-20", "refused"),
    ("20251120120000", "refused"),
    ("Thu, 20 Nov 2025 12:00:00 GMT", "refused"),
    ("+49 170 1234567", "refused"),
    ("+1 (555) 234-5678", "refused"),
    ("0049 170 2345678", "refused"),
    ("2223 4567 8923 4567", "refused"),
    ("3782 822463 10005", "refused"),
    ("378282246310005", "refused"),
    ("DE89 3704 0044 0532 0130 00", "refused"),
    ("DE89370400440532013000", "refused"),
    ("GB29NWBK60161331926819", "refused"),
    ("978-3-16-148410-0", "refused"),
    ("d41d8cd98f00b204e9800998ecf8427e", "foreign a UUID of an unknown variant"),
    ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "refused"),
    ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "refused"),
    ("da39a3e", "cut off 7"),
    ("507f1f77bcf86cd799439011", "refused"),
    ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "refused"),
    ("V1StGXR8_Z5jdHi6B-myT", "refused"),
    ("cjld2cjxh0000qzrmn831i7rn", "refused"),
    ("9m4e2mr0ui3e8a215n4g", "refused"),
    ("sk_live_4eC39HqLyjWDarjtT1zdP7dc", "refused"),
    ("AKIAIOSFODNN7EXAMPLE", "refused"),
    ("user@example.com", "refused"),
    ("192.168.100.200", "refused"),
    ("fe80::1ff:fe23:4567:890a", "refused"),
    ("00:1a:2b:3c:4d:5e", "refused"),
    ("room-42", "refused"),
    ("hello", "refused"),
    ("hello world, this is a message", "refused"),
    ("Need help with this now", "refused"),
    ("NEED HELP WITH THAT", "refused"),
    ("WELL DONE YEAH MATE", "refused"),
    ("null", "refused"),
    ("undefined", "refused"),
    ("NaN", "refused"),
    ("[object Object]", "refused"),
    ("", "refused"),
    ("-", "refused"),
    ("----", "refused"),
    ("0", "refused"),
    ("🙂", "refused"),
    ("<script>alert(1)</script>", "refused"),
    ("1234-5678-9012-3456", "refused"),
    ("2345 6789 2345 6789", "refused"),
    ("23456789 23456789", "refused"),
    ("W269N-WFGWX-YVC9B-4J6C9-T83GX", "refused"),
    ("VK7JG-NPHTM-C97JM-9MPGT-3V66T", "refused"),
    ("test-room-name-here", "refused"),
    ("ED25519 keys", "refused"),
    ("SHA256:2ZhtPRLaSMBCsaB7JgYMwkAV9QHWrDbSxZFtTyKfBqY", "refused"),
    ("aGVsbG8gd29ybGQ=", "refused"),
    ("dXNlcjpwYXNzMQ==", "refused"),
    ("ZqirGtAAHPyFaw=", "no padding EUNC-Q8QJ-22GH-T3DD"),
    ("123, 45, 6, 7, 8, 9, 10, 11, 12, 13", "refused"),
    ("1 2 3 4 5 6 7 8 9 10", "refused"),
    ("102.168.171.26", "refused"),
    ("[1, 2, 3]", "refused"),
    ("0000000000 65535 f", "refused"),
    ("12:00:00", "refused"),
    ("3.14159265358979323846", "refused"),
    ("0xdeadbeef", "refused"),
    ("1Z999AA10123456784", "refused"),
    ("9400 1000 0000 0000 0000 00", "refused"),
    ("5555 5555 5555 4444", "refused"),
    ("4111 1111 1111 1111", "refused"),
    ("4111-1111-1111-1111", "refused"),
    ("5425 2334 3222 3222", "refused"),
    ("aGVsbG8gd29ybA==", "refused"),
    ("YWJjZGVmZ2hpag==", "refused"),
    // No encoder writes both alphabets.
    ("ZqirGtAAHPyF-w==", "read base64 EUNC-Q8QJ-22GH-T3HV"),
    ("Zq+rGtAAHPyF-w==", "refused"),
    ("00000000: 4c47 6160 afc 0820 a54b                 f.........k", "refused"),
    ("e2\\xaf\\xbc\\[x85k'", "refused"),
    ("a\\xd0\\x00\\x1c\\xfcx85\\x6b'", "refused"),
    ("[102, -88, -85, 090, 17, 66, 2, -4, -87, 107]", "refused"),
    ("[102, 168, 171]", "refused"),
    ("createFromBase64", "refused"),
    ("CPEN-GH7K-ECA4-98EU", "read text rongcloud standard CPEN-GH7K-ECA4-98EU"),
    ("CPEN-GH7K-ECA4", "cut off 12"),
    ("{\"msg_id\":\"pb9hvkf86lyr3bmm\"}", "inside juggleim pb9hvkf86lyr3bmm"),
    ("https://x.com/rust/status/204697221847986177?s=20", "inside twitter 204697221847986177"),
    (
        "https://discord.com/channels/175928847299117063/175928847299117064/175928847299117065",
        "inside discord 175928847299117063",
    ),
    ("FIN 0e1ac0d4168a6000", "inside nsq 0e1ac0d4168a6000"),
    ("{\"user\":{\"id\":175928847299117063}}", "inside discord 175928847299117063"),
    ("span_id=0e1ac0d4168a6000", "numbers 1"),
    ("order id 175928847299117063", "numbers 1"),
    ("IMEI 861234567890123, order 202611261234567890, ts=1763665800000123456", "numbers 2"),
];

#[test]
fn each_pasted_form_has_its_answer() {
    let ([mut read, mut located, mut refused], mut wrong) = ([0; 3], Vec::new());
    let differs = |text: &str, found: &str, expected: &str| {
        (found != expected).then(|| format!("{text}: {found}, expected {expected}"))
    };
    for (form, patterns) in READ {
        for pattern in *patterns {
            for id in IDS {
                wrong.extend(differs(pattern, &answer(&fill(pattern, id)), &format!("read {form} {id}")));
            }
            read += 1;
        }
    }
    for pattern in INSIDE {
        for id in IDS {
            wrong.extend(differs(pattern, &answer(&fill(pattern, id)), &format!("inside standard {id}")));
        }
        located += 1;
    }
    for (pattern, expected) in REFUSED {
        for id in IDS {
            wrong.extend(differs(pattern, &answer(&fill(pattern, id)), &expected.replace("ID", id)));
        }
        refused += 1;
    }
    for (text, expected) in OTHERS {
        wrong.extend(differs(text, &answer(text), expected));
        match expected.split(' ').next() {
            Some("read" | "other") => read += 1,
            Some("inside") => located += 1,
            _ => refused += 1,
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert_eq!((read, located, refused), (149, 65, 140));
}

#[test]
fn grep_finds_one_id_in_each_form_of_bytes_that_is_read() {
    let forms = READ.iter().filter(|(form, _)| ["hex", "base64", "bytes"].contains(form));
    let (mut count, mut missed) = (0, Vec::new());
    for pattern in forms.flat_map(|(_, patterns)| *patterns).chain(INSIDE) {
        for id in IDS {
            let text = fill(pattern, id);
            let is_whole =
                |form, spelling: &str, at: usize| is_whole(form, text.as_bytes(), &(at..at + spelling.len()));
            let is_found = spellings(STANDARD.parse(id.as_bytes()).unwrap())
                .iter()
                .any(|(form, spelling)| text.match_indices(spelling).any(|(at, _)| is_whole(*form, spelling, at)));
            missed.extend((!is_found).then_some(text));
            count += 1;
        }
    }
    assert_eq!(missed, [""; 0]);
    assert!(count > 500, "{count}");
}

#[test]
fn a_cut_off_view_is_an_error_at_each_length() {
    let view = fill("{u}", IDS[2]);
    for end in 1..view.len() {
        let answer = answer(&view[..end]);
        assert!(!answer.starts_with("read") && !answer.starts_with("inside"), "{answer}");
    }
}

#[test]
fn the_digits_of_a_payment_card_are_not_an_id() {
    let expected = "not an ID: expected a letter, found only digits, as in the number of a payment card";
    assert_eq!(read("5555 5555 5555 4444", NOW).unwrap_err().error.to_string(), expected);
}

/// Returns the letters and digits of a text, in upper case.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

    /// **What is read is what is there**: if one character of a form is another one and the text still is read, then all
    /// of its letters and digits are those of the ID that is read, in that form. So it is the same ID only if no letter or digit
    /// was changed to something else than its other case, and another ID only if the text is a form of that one. An integer can
    /// have an `n` after it as in JavaScript.
    #[test]
    fn a_form_with_a_changed_character_is_read_only_as_what_it_is(
        index in 0..IDS.len(),
        pattern in prop::sample::select(vec!["{T}", "{p}", "{h}", "{i}", "{u}", "0x{h}"]),
        at in any::<prop::sample::Index>(),
        changed in "[ -~]",
    ) {
        let form = fill(pattern, IDS[index]);
        let at = at.index(form.len());
        let text = format!("{}{changed}{}", &form[..at], &form[at + 1..]);
        if let Ok(Pasted::One(readings)) = read(&text, NOW)
            && let [read] = readings[..]
            && read.id.is_standard()
        {
            let written = match read.form {
                Form::Base64 | Form::Bytes => return Err(TestCaseError::fail(format!("{text:?} is read as {:?}", read.form))),
                form => read.id.in_form(form).unwrap(),
            };
            let all = digits(&text);
            let is_big = read.form == Form::Int;
            let all = if is_big { all.strip_suffix('N').unwrap_or(&all) } else { &all };
            let prefix = all.strip_suffix(&digits(&written)).map(str::to_owned);
            let is_prefix = |prefix: &str| prefix.is_empty() || pattern == "0x{h}" && ["0X", "X", "XX"].contains(&prefix);
            prop_assert!(prefix.as_deref().is_some_and(is_prefix), "{text:?} is read as {written}");
        }
    }
}

/// A generator of numbers, the same ones in each run: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns one of the patterns of this file, with an ID.
    fn form(&mut self) -> String {
        let (_, patterns) = self.one(READ);
        let pattern = match self.below(4) {
            0 | 1 => self.one(patterns),
            2 => self.one(INSIDE),
            _ if self.below(3) == 0 => self.one(REFUSED).0,
            _ => self.one(OTHERS).0,
        };
        fill(pattern, self.one(&IDS))
    }

    /// Changes a text in one way that people, programs and networks do.
    fn mutated(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let at = self.below(chars.len() + 1);
        let odd: Vec<char> =
            "0123456789ABCDIOZabcdefilnoxz-_.,:;'\"\\/=%[]{}()<> \n\t…–\u{2010}\u{212a}\u{ad}é🙂１Ａ".chars().collect();
        let odd = self.one(&odd);
        match self.below(8) {
            0 if at < chars.len() => chars[at] = odd,
            1 => chars.truncate(at),
            2 => drop(chars.drain(..at)),
            3 => chars.insert(at, odd),
            4 if at < chars.len() => drop(chars.remove(at)),
            5 => return format!("{text}{}{}", self.one(&["", " ", "-", ",", "\n", "/", "…", "\\n"]), self.form()),
            6 => {
                let around = [("\"", "\""), ("(", "),"), ("id=", "&"), ("{\"id\":\"", "\"}"), ("b'", "'"), ("X'", "'")];
                let around = [&around[..], &[("\\x", ""), ("0x", ""), ("<Buffer ", ">"), ("/status/", "?"), ("", "n")]];
                let (before, after) = self.one(&around.concat());
                return format!("{before}{text}{after}");
            }
            _ => {
                let escapes = [("\\", "\\\\"), ("-", "%2D"), ("\"", "\\\""), ("-", "\u{2011}"), ("-", " "), ("-", "")];
                let (from, to) = self.one(&escapes);
                return text.replace(from, to);
            }
        }
        chars.into_iter().collect()
    }
}

/// Returns whether a text begins with these bytes, each as itself or as an escape.
fn spells(text: &str, hex: &str) -> bool {
    if hex.is_empty() {
        return true;
    }
    let (pair, rest) = hex.split_at(2);
    let byte = u8::from_str_radix(pair, 16).unwrap();
    let named = b"n\nr\rt\ta\x07b\x08v\x0bf\x0ce\x1b0\0\\\\''\"\"``//".chunks(2).filter(|named| named[1] == byte);
    let mut ways: Vec<String> = named.map(|named| format!("\\{}", char::from(named[0]))).collect();
    ways.extend([
        format!("\\x{pair}"),
        format!("\\x{}", pair.to_uppercase()),
        format!("\\u00{pair}"),
        format!("\\{byte:03o}"),
    ]);
    ways.extend((byte.is_ascii() && byte != b'\\').then(|| char::from(byte).to_string()));
    ways.iter().any(|way| text.strip_prefix(way.as_str()).is_some_and(|after| spells(after, rest)))
}

/// Returns whether a text has the letters and digits of this ID in this form, and beside them only what such a form can have.
fn shows(text: &str, read: &Read, is_whole: bool) -> bool {
    let half_width = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap(),
        _ => c.to_ascii_uppercase(),
    };
    let all: String = text.chars().map(half_width).filter(|c| c.is_alphanumeric()).collect::<String>().to_uppercase();
    let written = |form| digits(&read.id.in_form(form).unwrap_or_default());
    let beside = |written: String| {
        let (before, after) = all.split_once(&written).filter(|_| !written.is_empty())?;
        Some((before.to_owned(), after.to_owned()))
    };
    match read.form {
        Form::Hex => {
            // A literal, or a call that makes bytes of one.
            [Form::Hex, Form::Uuid]
                .into_iter()
                .any(|form| beside(written(form)).is_some_and(|(before, _)| is_whole || before.len() < 5))
        }
        Form::Base64 | Form::Bytes => {
            let hexes = [read.id.in_form(Form::Hex), read.id.in_form(Form::Uuid)].into_iter().flatten();
            let hexes: Vec<_> = hexes.map(|hex| hex.replace('-', "")).collect();
            let is_spelled =
                |text: &str| text.char_indices().any(|(at, _)| hexes.iter().any(|hex| spells(&text[at..], hex)));
            if text.contains('\\') && (is_spelled(text) || is_spelled(&text.replace("\\\\", "\\"))) {
                return true;
            }
            // What is between two bytes does not matter.
            let bare = |text: &str| {
                text.to_lowercase().replace([' ', '\n', '\t', ':', ',', ';', '-'], "").replace("0x0", "0x")
            };
            let text = bare(text);
            spellings(read.id).iter().any(|(_, spelling)| text.contains(&bare(spelling)))
        }
        form @ (Form::Text | Form::Int | Form::Uuid) => beside(written(form)).is_some_and(|(before, after)| {
            let is_number = after == "N" || is_whole && after.chars().all(|c| c == '0');
            let before = if is_whole { before.strip_prefix('B').unwrap_or(&before) } else { &before };
            matches!(before, "" | "URNUUID") && (after.is_empty() || form == Form::Int && is_number)
        }),
        _ => beside(digits(&read.id.to_string())).is_some_and(|(before, after)| {
            let is_number = is_whole && (after == "N" || after.chars().all(|c| c == '0'));
            (before.is_empty() || is_whole && before == "B") && (after.is_empty() || is_number)
        }),
    }
}

/// **What is read is what is there**, in texts that were cut, joined, wrapped, escaped and mistyped: each ID has its letters and digits
/// at its place, places are in order, and a text that is refused says why.
#[test]
fn a_damaged_text_is_read_only_as_what_it_is() {
    let (mut random, mut counts, mut wrong) = (Random(0x9e37_79b9_7f4a_7c15), [0; 3], Vec::new());
    for _ in 0..4_000 {
        let mut text = random.form();
        for _ in 0..random.below(5) {
            text = random.mutated(&text);
        }
        let text = text.trim();
        let mut expect = |holds: bool, what: String| wrong.extend((!holds).then(|| format!("{text:?}: {what}")));
        let is_there = |at: &Range<usize>| at.start < at.end && text.get(at.clone()).is_some();
        match read(text, NOW) {
            Ok(Pasted::One(readings)) => {
                counts[0] += 1;
                for read in &readings {
                    expect(shows(text, read, true), format!("{read:?}"));
                }
            }
            Ok(Pasted::Text(scan)) => {
                counts[1] += 1;
                let mut end = 0;
                for Found { at, read } in &scan.ids {
                    let holds = end <= at.start && is_there(at) && shows(&text[at.clone()], read, false);
                    expect(holds && read.id.is_plausible(NOW), format!("{at:?} {read:?}"));
                    end = at.end;
                }
                let holds = scan.others.iter().all(|found| is_there(&found.at));
                expect(holds && scan.broken.is_none_or(|broken| is_there(&broken.at)), "another place".to_owned());
            }
            Err(NotPasted { error, instead }) => {
                counts[2] += 1;
                let at = error.position().unwrap_or(0);
                let holds = at <= text.len() && text.is_char_boundary(at) && !error.to_string().is_empty();
                let is_hint = match instead {
                    Pasted::Text(Scan { ids, others, broken }) => {
                        ids.is_empty()
                            && others.iter().all(|found| is_there(&found.at))
                            && broken.is_none_or(|broken| is_there(&broken.at))
                    }
                    Pasted::One(_) => false,
                };
                expect(holds && is_hint, error.to_string());
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}
