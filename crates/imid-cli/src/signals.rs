//! SIGINT and SIGTERM end the tool between two writes, so the output ends with a whole line.

use std::io::Write;
use std::sync::mpsc;
use std::{fs, process, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::stdout::{self, Tagged, Written};

/// Handles the signals that end the tool. If this fails, they end it as they end other programs: at any byte.
pub(crate) fn end_at_line_ends() {
    let (registered, is_registered) = mpsc::channel::<()>();
    // The thread needs little memory.
    let _ = thread::Builder::new().stack_size(1 << 16).spawn(move || {
        let ignored = ignored();
        let handled = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let signals = Signals::new(handled);
        drop(registered);
        if let Ok(mut signals) = signals
            && let Some(signal) = signals.forever().next()
        {
            end(signal);
        }
    });
    // The tool writes nothing before the signals are handled. The channel has no messages: it is closed when the thread
    // has registered them, or could not be started.
    let _ = is_registered.recv();
}

/// Returns the set of signals that the tool's parent told it to ignore, as `nohup` does: bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default()
}

/// Prints what was written, and then ends the tool with the default action of the signal.
fn end(signal: i32) {
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
    // Until the end of this function, other threads cannot write.
    let written = stdout::pause();
    let tagged = written.as_ref().and_then(|written| written.tagged);
    let place = match (written.as_deref(), tagged) {
        (None, _) => " during a write; the last line can be incomplete".into(),
        (Some(Written { file, .. }), Some(Tagged { line, id })) => {
            let part = file.as_ref().map(|part| format!("; {} has the output so far", part.name()));
            format!(" after line {line}; the last ID is {id}{}", part.unwrap_or_default())
        }
        (Some(_), None) => String::new(),
    };
    let message = format!("ended by {name}{place}");
    let _ = writeln!(anstream::stderr(), "{message}");
    let _ = emulate_default_handler(signal);
    process::exit(128 + signal)
}
