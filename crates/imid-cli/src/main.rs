//! The command-line tool `imid`: mints, reads and checks IDs, and tags JSON lines with them.

mod candidates;
#[cfg(feature = "parquet")]
mod columnar;
mod commands;
mod descriptors;
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
#[cfg(unix)]
mod signals;
mod stdout;
mod terminal;
mod time;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, Parser};

use crate::commands::Command;
use crate::report::{Report, Stop};
use crate::stdout::Out;

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

/// Reads the arguments, or ends with the help or a usage error. A wrong value is reported in one line, as bad input is.
/// For other errors, clap also prints the usage.
fn parse_args(report: &mut Report) -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        if error.kind() == ErrorKind::ValueValidation {
            let message = error.render().ansi().to_string();
            // If standard error cannot be written, the exit status still reports the error.
            let _ = writeln!(anstream::stderr(), "{}", message.lines().next().unwrap_or_default());
        } else if error.use_stderr() {
            let _ = error.print();
            note_wrong_dashes(report);
        } else {
            let printed = descriptors::check_stdout().and_then(|()| error.print()).and_then(|()| io::stdout().flush());
            return end(printed.map_err(Stop::from), report);
        }
        ExitCode::from(USAGE)
    })
}

/// Names the first character of arguments that look like options. Word processors replace hyphens with dashes.
fn note_wrong_dashes(report: &Report) {
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy();
        if let Some((first, name)) = argument.chars().next().and_then(|first| Some((first, form::look_alike(first)?))) {
            let code = u32::from(first);
            report.note(format_args!("note: {argument:?} starts with {first:?} (U+{code:04X} {name}), not with '-'"));
        }
    }
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

/// The exit status for wrong arguments.
const USAGE: u8 = 2;

/// Reports how the run ended and returns its exit status.
fn end(result: Result<(), Stop>, report: &mut Report) -> ExitCode {
    match result {
        Ok(()) => {}
        Err(Stop::Error(message)) => report.error(message),
        Err(Stop::Usage(message)) => {
            let _ = clap::Error::raw(ErrorKind::ArgumentConflict, message + "\n").print();
            return ExitCode::from(USAGE);
        }
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stop::Output(error)) => report.error(format_args!("cannot write to standard output: {error}")),
    }
    if report.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::end_at_line_ends();
    let mut report = Report::new();
    let cli = match parse_args(&mut report) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    set_colors(cli.color);
    let mut out = Out::default();
    let ran = cli.command.run(&mut out, &mut report);
    // Writes the output from before the error, and then the error.
    let flushed = out.flush().map_err(Stop::from);
    end(ran.and(flushed), &mut report)
}
