//! A program without std and without an allocator. It does not link if the library needs one of them. It ends with a
//! status other than 0 if the library does not work.
#![no_std]
#![no_main]

use core::ffi::c_int;
use core::fmt::Write;
use core::panic::PanicInfo;

use imid::clock::ManualClock;
use imid::{Generator, MessageId, SessionTag, SessionType};

// The C library calls `main` and has `abort`. A program with std links it by itself.
#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    abort()
}

// The precompiled `core` was compiled to unwind and refers to this function. This program does not unwind, so it is not
// called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    match mint_and_read(room) {
        Some((first, second)) if first < second && first.is_in(room) => 0,
        _ => 1,
    }
}

fn mint_and_read(room: SessionTag) -> Option<(MessageId, MessageId)> {
    let ids = Generator::builder().clock(ManualClock::new(1_763_665_800_000)).seed(7).build().ok()?;
    let first = ids.generate(room).ok()?;
    let second = MessageId::parse(&ids.generate(room).ok()?.to_text()).ok()?;
    // `Display` and the errors are written, so that they are linked.
    write!(Nowhere, "{first} {second:x} {}", MessageId::parse("").err()?).ok()?;
    Some((first, second))
}

struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        core::hint::black_box(text);
        Ok(())
    }
}
