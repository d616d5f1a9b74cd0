//! `imid man`: prints the manual page of the tool or of a command.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::report::{Stop, expected_one_of, quote};
use crate::{Cli, Out};

/// Print the manual page of the tool or of a command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid man | man -l -
  imid man tag | man -l -
  imid man lane list > imid-lane-list.1")]
pub(crate) struct Args {
    /// Command, such as tag or lane list
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut tool = Cli::command().disable_help_subcommand(true);
        tool.build();
        let mut command = &tool;
        for name in &self.command {
            command = command.find_subcommand(name).ok_or_else(|| no_command(command, name))?;
        }
        Ok(out.write_all(&page(command)?)?)
    }
}

/// The error for a name that is not a command inside of `parent`.
fn no_command(parent: &Command, name: &str) -> Stop {
    let names: Vec<_> = parent.get_subcommands().map(Command::get_name).collect();
    let problem = if names.is_empty() {
        format!("expected no command after {}, found {}", parent.get_name(), quote(name))
    } else {
        expected_one_of(&names, Some(name))
    };
    Stop::Usage(format!("[COMMAND]: {problem}"))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let (mut page, name) = (Vec::new(), command.get_bin_name().unwrap_or(command.get_name()));
    Man::new(command.clone())
        .title(name.replace(' ', "-"))
        .source(concat!("imid ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    Ok(with_values(command, &String::from_utf8_lossy(&page)).into_bytes())
}

/// Returns a page whose synopsis has the values of options, such as `[--in FORMAT]`. `clap_mangen` leaves them out.
fn with_values(command: &Command, page: &str) -> String {
    let Some((head, rest)) = page.split_once(".SH SYNOPSIS\n") else { return page.to_owned() };
    let (synopsis, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut synopsis = synopsis.to_owned();
    for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
        let Some(long) = argument.get_long() else { continue };
        let value = argument.get_value_names().and_then(<[_]>::first).map_or("VALUE", |value| value.as_str());
        let option = format!("\\fB\\-\\-{}\\fR", long.replace('-', "\\-"));
        let with_value = format!("{option} \\fI{value}\\fR");
        synopsis = synopsis
            .replace(&format!("<{option}>"), &with_value)
            .replace(&format!("{option}]"), &format!("{with_value}]"));
    }
    format!("{head}.SH SYNOPSIS\n{synopsis}\n{rest}")
}
