//! `imid man`: prints the manual page of the tool or of a command.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::report::{Stop, expected_one_of, quote};
use crate::{Cli, Out};

/// Print the manual page of the tool or of a command, or write all of them to a folder
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid man | man -l -
  imid man tag | man -l -
  imid man --folder ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Folder for the pages of the tool and of all commands: imid.1, imid-tag.1 and so on; it must exist
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    folder: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut tool = Cli::command().disable_help_subcommand(true);
        tool.build();
        let Some(folder) = &self.folder else {
            let command = match &self.command {
                None => &tool,
                Some(name) => tool.find_subcommand(name).ok_or_else(|| {
                    let names: Vec<_> = tool.get_subcommands().map(Command::get_name).collect();
                    Stop::Usage(format!("[COMMAND]: {}", expected_one_of(&names, Some(name))))
                })?,
            };
            return Ok(out.write_all(&page(command)?)?);
        };
        for command in [&tool].into_iter().chain(tool.get_subcommands()) {
            let path = folder.join(format!("{}.1", page_name(command)));
            fs::write(&path, page(command)?)
                .map_err(|error| Stop::Error(format!("cannot write {}: {error}", quote(&path.to_string_lossy()))))?;
        }
        Ok(())
    }
}

/// Returns the name of a page: `imid-tag` for `imid tag`.
fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .title(page_name(command))
        .source(concat!("imid ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    Ok(page)
}
