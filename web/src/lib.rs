//! Answers the questions of the page. `module.js` calls it.
//!
//! A question is a text: its name and its values, separated by U+001F. The answer is JSON. Only numbers pass between
//! JavaScript and WebAssembly, so both lie in the module's memory.

mod answer;
mod json;

use std::sync::Mutex;

static QUESTION: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Makes room for a question of so many bytes, and returns where to write it.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(len: usize) -> *mut u8 {
    // PANIC: one thread, and nothing panics while it is locked.
    let mut question = QUESTION.lock().expect("no panic before");
    *question = vec![0; len];
    question.as_mut_ptr()
}

/// Answers the question, and returns where the answer is: its length in four bytes, little-endian, and the JSON.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> *const u8 {
    // PANIC: as in `reserve`. The question is taken out, so that no lock is held while it is answered.
    let question = std::mem::take(&mut *QUESTION.lock().expect("no panic before"));
    let json = answer::answer(&String::from_utf8_lossy(&question));
    let mut answer = ANSWER.lock().expect("no panic before");
    *answer = (json.len() as u32).to_le_bytes().into_iter().chain(json.into_bytes()).collect();
    answer.as_ptr()
}
