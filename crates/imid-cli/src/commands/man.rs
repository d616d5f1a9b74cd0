//! `imid man`: writes the manual pages.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::Cli;
use crate::report::{Stop, quote_path};

/// Write the manual pages of the tool and of each command into a folder
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  imid man ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Folder, which must exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Args {
    pub(crate) fn run(&self) -> Result<(), Stop> {
        clap_mangen::generate_to(Cli::command(), &self.folder)
            .map_err(|error| Stop::Error(format!("cannot write to {}: {error}", quote_path(&self.folder))))
    }
}
