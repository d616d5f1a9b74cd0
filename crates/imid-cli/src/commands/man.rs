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
    let (mut page, mut command) = (Vec::new(), command.clone());
    let title = command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-");
    // The synopsis of `clap_mangen` has no values of options.
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    Man::new(command.override_usage(usage))
        .title(title)
        .source(concat!("imid ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    Ok(page)
}
