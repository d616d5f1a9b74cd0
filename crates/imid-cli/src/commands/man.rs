//! `imid man`: prints the manual page of the tool or of a command.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::report::{Stop, expected_one_of, quote};
use crate::{Cli, Out, output_file};

/// Print the manual page of the tool or of a command, or write all of them to a folder
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid man | man -l -
  imid man tag | man -l -
  imid man lane list | man -l -
  imid man --folder ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Command, such as tag or lane list
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Folder for the pages of the tool and of all commands: imid.1, imid-tag.1 and so on; it must exist
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    folder: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut tool = Cli::command().disable_help_subcommand(true);
        tool.build();
        let Some(folder) = &self.folder else {
            let mut command = &tool;
            for name in &self.command {
                command = command.find_subcommand(name).ok_or_else(|| no_command(command, name))?;
            }
            return Ok(out.write_all(&page(command)?)?);
        };
        write_pages(&tool, folder)
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

/// The start of each page: a comment.
const MARK: &str = ".\\\" imid man\n";

/// Writes the pages of a command and of the commands inside of it.
fn write_pages(command: &Command, folder: &Path) -> Result<(), Stop> {
    let path = folder.join(format!("{}.1", page_name(command)));
    output_file::write(&path, MARK, &String::from_utf8_lossy(&page(command)?))?;
    command.get_subcommands().try_for_each(|command| write_pages(command, folder))
}

/// Returns the name of a page: `imid-tag` for `imid tag`.
fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = MARK.as_bytes().to_vec();
    Man::new(command.clone())
        .title(page_name(command))
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
