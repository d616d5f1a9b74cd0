//! The command-line tool `imid`: mints, reads and checks IDs, and tags JSON lines with them.

mod candidates;
mod commands;
mod foreign;
mod form;
mod input;
mod json;
mod json_line;
mod lead;
mod output;
mod report;
mod row;
mod scheme;
mod session;
mod terminal;
mod time;

use std::io::{self, BufWriter, Write};
use std::process::{self, ExitCode};

use clap::error::ErrorKind;
use clap::{ColorChoice, Parser};

use crate::commands::Command;
use crate::report::{Report, Stop};

/// Standard output with a large buffer.
type Out = BufWriter<io::StdoutLock<'static>>;

/// Number of bytes of output that are buffered before they are written.
const OUT_CAPACITY: usize = 1 << 16;

/// Mint, read and check 80-bit message IDs for chat backends, and tag messages with them
#[derive(Parser)]
#[command(name = "imid", version, after_help = EXIT_STATUS, arg_required_else_help = true)]
struct Cli {
    /// When to use colors: auto uses them on a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  success; also if the reader of the output closed it early
  1  the input is wrong or cannot be read, or the output cannot be written
  2  the arguments are wrong";

/// Reads the arguments. A wrong value is reported in one line, as bad input is. For other errors, clap also prints the
/// usage.
fn parse_args() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        if error.kind() != ErrorKind::ValueValidation {
            error.exit();
        }
        let message = error.render().ansi().to_string();
        // If standard error cannot be written, the exit status still reports the error.
        let _ = writeln!(anstream::stderr(), "{}", message.lines().next().unwrap_or_default());
        process::exit(error.exit_code());
    })
}

/// Sets the colors of standard output and standard error.
fn set_colors(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

fn main() -> ExitCode {
    let cli = parse_args();
    set_colors(cli.color);
    let mut out = BufWriter::with_capacity(OUT_CAPACITY, io::stdout().lock());
    let mut report = Report::new();
    let ran = cli.command.run(&mut out, &mut report);
    // Writes the output from before the error, and then the error.
    let flushed = out.flush().map_err(Stop::from);
    // Without this line, a writer that failed would try again when it is dropped.
    let _ = out.into_parts();
    match ran.and(flushed) {
        Ok(()) => {}
        Err(Stop::Error(message)) => report.error(message),
        Err(Stop::Usage(message)) => clap::Error::raw(ErrorKind::ArgumentConflict, message + "\n").exit(),
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stop::Output(error)) => report.error(format_args!("cannot write to standard output: {error}")),
    }
    if report.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
