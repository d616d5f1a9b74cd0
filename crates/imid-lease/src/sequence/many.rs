//! The next numbers of many conversations at once.

use std::array::from_fn;
use std::hint::black_box;

use super::keeper::Section;
use super::{Conversation, NextError, Number, Sequence};

/// How many conversations are looked up together: about as many cache lines as a core fetches at one time.
const TOGETHER: usize = 16;

/// The size of the table in which a section of the same batch is found. Most batches have no two sections in one place.
const PLACES: usize = 64;

impl Sequence {
    /// Returns the next number of each conversation, in the order of the conversations. A conversation that comes twice
    /// gets two numbers, the lower one first.
    ///
    /// The result is that of [`next`](Self::next) for each of them. With many conversations it is faster, because their
    /// places in memory are fetched at the same time: use it where one message gets a number in the list of each member of
    /// a group.
    ///
    /// **Never blocks on the network**. It holds the locks of up to 16 sections for some hundred nanoseconds.
    pub fn next_many(&self, conversations: &[Conversation]) -> Vec<Result<Number, NextError>> {
        let mut numbers = Vec::with_capacity(conversations.len());
        for conversations in conversations.chunks(TOGETHER) {
            self.next_together(conversations, &mut numbers);
        }
        numbers
    }

    /// Adds the numbers of at most [`TOGETHER`] conversations.
    fn next_together(&self, conversations: &[Conversation], numbers: &mut Vec<Result<Number, NextError>>) {
        // Before the locks: in a forked child another thread may have held one for ever.
        if imid::process::mark() != self.process {
            return numbers.extend(conversations.iter().map(|it| Err(NextError::forked(it.section()))));
        }
        // The first conversation of a section locks it for all of them. A lock that another thread has is not waited for, so
        // no two threads wait for each other.
        let mut first_in = [TOGETHER; PLACES];
        let mut locked = [const { None }; TOGETHER];
        let mut lock_of = [TOGETHER; TOGETHER];
        for (at, conversation) in conversations.iter().enumerate() {
            let first = &mut first_in[conversation.section() as usize % PLACES];
            if *first == TOGETHER {
                *first = at;
                let section = self.shared.sections.get(conversation.section() as usize);
                locked[at] = section.and_then(Section::try_numbers);
            }
            if conversations[*first].section() == conversation.section() {
                lock_of[at] = *first;
            }
        }
        // The processor can wait for all of these lines at the same time, because no load depends on another one.
        let mut seen = 0;
        for (conversation, lock) in conversations.iter().zip(lock_of) {
            if let Some(Some(numbers)) = locked.get(lock) {
                seen ^= numbers.touch(conversation.key());
            }
        }
        black_box(seen);
        let minted: [_; TOGETHER] = from_fn(|at| {
            let numbers = locked.get_mut(lock_of[at])?.as_mut()?;
            Some(numbers.next(conversations.get(at)?.key()))
        });
        drop(locked);
        for (conversation, minted) in conversations.iter().zip(minted) {
            numbers.push(match minted {
                Some(minted) => self.finish(*conversation, minted),
                // Another thread had the section, or another section has its place, or there is no such section.
                None => self.next(*conversation),
            });
        }
    }
}
