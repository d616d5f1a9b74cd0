//! The command-line tool: mints, reads and checks IDs, and tags JSON lines with them.

mod args;
mod check;
mod drawing;
mod duplicates;
mod family;
mod identify;
mod input;
mod inspect;
mod members;
mod new;
mod parts;
mod range;
mod replay;
mod report;
mod shard;
mod tag;
mod wait;

use std::io::{self, BufWriter, Write};
use std::process::{self, ExitCode};

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::report::{Report, Stop};

/// Standard output, written in large pieces.
type Out = BufWriter<io::StdoutLock<'static>>;

/// How much output is collected before it is written.
const OUT_CAPACITY: usize = 1 << 16;

/// 80-bit message IDs for chat backends: mint them, read them, check them, tag messages with them
#[derive(Parser)]
#[command(name = "imid", version, after_help = EXIT_STATUS, arg_required_else_help = true)]
struct Cli {
    /// Report a bad line or ID and go on with the next one; the exit status is 1 all the same
    #[arg(long, global = true)]
    keep_going: bool,
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  all went well; also when the reader of the output went away
  1  something is wrong in the input, or it could not be read
  2  the arguments are wrong";

#[derive(Subcommand)]
enum Command {
    New(new::Args),
    Inspect(inspect::Args),
    Identify(identify::Args),
    Tag(tag::Args),
    Range(range::Args),
    Check(check::Args),
    Shard(shard::Args),
}

impl Command {
    fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        match self {
            Self::New(args) => args.run(out),
            Self::Inspect(args) => args.run(out, report),
            Self::Identify(args) => args.run(out),
            Self::Tag(args) => args.run(out, report),
            Self::Range(args) => args.run(out),
            Self::Check(args) => args.run(out, report),
            Self::Shard(args) => args.run(out, report),
        }
    }
}

/// A value that is wrong is told in one line, as a bad line of the input is; for all else clap shows the usage.
fn parse_args() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        if error.kind() != ErrorKind::ValueValidation {
            error.exit();
        }
        let told = error.render().ansi().to_string();
        // Where standard error takes nothing, the exit status still tells.
        let _ = writeln!(anstream::stderr(), "{}", told.lines().next().unwrap_or_default());
        process::exit(error.exit_code());
    })
}

fn main() -> ExitCode {
    let cli = parse_args();
    let mut out = BufWriter::with_capacity(OUT_CAPACITY, io::stdout().lock());
    let mut report = Report::new(cli.keep_going);
    let ran = cli.command.run(&mut out, &mut report);
    // What was read before an error is written before the error is told.
    let flushed = out.flush().map_err(Stop::from);
    // Taken apart, for a writer that failed would try the rest again when it is dropped.
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
