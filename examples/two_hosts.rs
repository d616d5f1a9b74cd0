//! Two hosts have clocks that are 3 s apart. With `observe`, a reply sorts after its question.

use std::error::Error;

use imid::clock::ManualClock;
use imid::{Generator, SessionTag};

fn main() -> Result<(), Box<dyn Error>> {
    let chat = SessionTag::pair("alice", "bob");
    let fast = Generator::builder().clock(ManualClock::new(1_795_204_803_000)).build()?;
    let slow = Generator::builder().clock(ManualClock::new(1_795_204_800_000)).build()?;

    let question = fast.generate(chat)?;
    let unaware = slow.generate(chat)?;
    println!("question     {question}");
    println!("unaware      {unaware}  sorts before it: {}", unaware < question);

    slow.observe(question)?;
    let reply = slow.generate(chat)?;
    println!("reply        {reply}  sorts after it: {}", reply > question);
    Ok(())
}
