//! The command-line tool `imid`: mints, reads and checks IDs, and tags messages with them.

mod candidates;
mod clock_minter;
mod commands;
mod form;
mod id_object;
mod input;
mod json;
mod message;
mod output;
mod output_file;
mod report;
mod scheme;
mod session;
#[cfg(unix)]
mod signals;
mod stdout;
mod time;

use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use imid_inspect::{NotPasted, Pasted, number, read};

use crate::commands::Command;
use crate::report::{Report, Stop, USAGE};
use crate::stdout::Out;

/// Mint, read and check 80-bit message IDs for chat backends, and tag messages with them
#[derive(Parser)]
#[command(name = "imid", version, after_help = FOR_SCRIPTS, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const FOR_SCRIPTS: &str = "\
Exit status:
  0  success, also if the reader of the output closes it early
  1  a check failed, the input is wrong or cannot be read, or the output cannot be written
  2  the arguments are wrong; for imid grep, also if a file cannot be read
  A shell shows 129, 130 or 143 if SIGHUP, SIGINT or SIGTERM terminated the tool.

For scripts:
  Results are on standard output. Errors, notes and the summary of imid tag are on standard error.
  A script can rely on the exit status, on the output of --format and --json, and on the names of commands, options, \
columns and JSON members. Later versions may add columns and members, so read them by name. The output for people and \
the wording of messages may change.";

/// Reads the arguments, or ends with the help or a usage error. A wrong value is reported in one line, as bad input is.
/// For other errors, clap also prints the usage.
fn parse_args(report: &mut Report) -> Result<Cli, ExitCode> {
    let mut tool = any_case(Cli::command());
    let matches = tool.try_get_matches_from_mut(arguments(&tool));
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut tool)));
    parsed.map_err(|mut error| {
        // clap's advice to write `--` is right for no argument of this tool.
        error.remove(ContextKind::Suggested);
        if let Some(message) = wrong_value(&error) {
            return report.end(Err(Stop::Usage(message)), stdout::cannot_write);
        }
        let printed = error.print();
        if !error.use_stderr() {
            let printed = printed.and_then(|()| io::stdout().flush()).map_err(Stop::from);
            return report.end(printed, stdout::cannot_write);
        }
        note_wrong_dashes(report);
        if error.kind() == ErrorKind::InvalidSubcommand {
            report.note("to see what an ID is: imid inspect ID, or imid ID; to find IDs in files: imid grep FILE");
        }
        ExitCode::from(USAGE)
    })
}

/// Returns the arguments, with `inspect` before a first one that is an ID or a text with an ID.
fn arguments(tool: &clap::Command) -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let is_pasted = |text: &str| {
        let is_read = || match read(text, time::now_ms()) {
            Err(NotPasted { instead: Pasted::Text(scan), .. }) => scan.broken.is_some() || !scan.others.is_empty(),
            _ => true,
        };
        text.contains(|c: char| c.is_ascii_digit() || c.is_whitespace()) || is_read()
    };
    // `cat ids.txt | imid`. Without a file or a pipe, the help is shown.
    if arguments.len() == 1 && same_file::Handle::stdin().is_ok_and(|stdin| is_file_or_pipe(stdin.as_file())) {
        arguments.push("inspect".into());
        return arguments;
    }
    let first = arguments.get(1).and_then(|first| first.to_str());
    if first.is_some_and(|first| !first.starts_with('-') && tool.find_subcommand(first).is_none() && is_pasted(first)) {
        arguments.insert(1, "inspect".into());
    }
    arguments
}

fn is_file_or_pipe(stdin: &File) -> bool {
    let Ok(kind) = stdin.metadata().map(|metadata| metadata.file_type()) else { return false };
    #[cfg(unix)]
    if kind.is_fifo() || kind.is_socket() {
        return true;
    }
    kind.is_file()
}

/// Returns a command that reads names, such as those of dialects and formats, in upper and lower case.
fn any_case(command: clap::Command) -> clap::Command {
    let any_case_of = |argument: clap::Arg| {
        let takes_value = argument.get_action().takes_values();
        argument.ignore_case(takes_value)
    };
    command.mut_args(any_case_of).mut_subcommands(any_case)
}

/// Returns the message for a wrong value of an argument. Returns `None` for other errors.
fn wrong_value(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg)?;
    // `--count <N>` is called `--count`.
    let argument = argument.split_once(" <").map_or(argument, |(option, _)| option);
    let problem = match error.kind() {
        ErrorKind::ValueValidation => error.source()?.to_string(),
        ErrorKind::InvalidValue => {
            let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else { return None };
            let found = text(ContextKind::InvalidValue).filter(|value| !value.is_empty());
            if values.is_empty() {
                "expected a value, found none".into()
            } else {
                report::expected_one_of(values, found)
            }
        }
        _ => return None,
    };
    Some(format!("{argument}: {problem}"))
}

/// Names the first character of arguments that look like options. Word processors replace hyphens with dashes.
fn note_wrong_dashes(report: &Report) {
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy();
        if let Some((first, name)) =
            argument.chars().next().and_then(|first| Some((first, imid_inspect::look_alike(first)?)))
        {
            let code = u32::from(first);
            report.note(format_args!("{argument:?} starts with {first:?} (U+{code:04X} {name}), not with '-'"));
        }
    }
}

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::end_at_line_ends();
    let mut report = Report::default();
    let cli = match parse_args(&mut report) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let mut out = Out::default();
    let ran = cli.command.run(&mut out, &mut report);
    // Writes the output from before the error, and then the error.
    let flushed = out.flush().map_err(Stop::from);
    report.end(ran.and(flushed), stdout::cannot_write)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Passes each option of a command and of the commands inside of it.
    fn each_option(command: &clap::Command, each: &mut impl FnMut(&str, &clap::Arg)) {
        for option in command.get_arguments().filter(|argument| argument.get_long().is_some()) {
            each(command.get_name(), option);
        }
        command.get_subcommands().for_each(|command| each_option(command, each));
    }

    #[test]
    fn an_option_has_one_short_form_and_one_kind_of_value_in_all_commands() {
        let mut kinds = BTreeMap::new();
        each_option(&Cli::command(), &mut |command, option| {
            let kind = (option.get_short(), option.get_value_names().map(<[_]>::to_vec));
            let name = option.get_long().unwrap_or_default().to_owned();
            let (first, known) = kinds.entry(name.clone()).or_insert_with(|| (command.to_owned(), kind.clone()));
            assert_eq!(*known, kind, "--{name} of {first} and of {command}");
        });
        assert!(kinds.len() > 30 && kinds.contains_key("json"), "{}", kinds.len());
    }
}
