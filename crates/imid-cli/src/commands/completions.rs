//! `imid completions`: prints a completion script.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::report::Stop;
use crate::{Cli, Out};

/// Print a script that completes the tool's commands and options in a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid completions bash > ~/.local/share/bash-completion/completions/imid
  imid completions zsh > ~/.zfunc/_imid
  imid completions fish > ~/.config/fish/completions/imid.fish")]
pub(crate) struct Args {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "imid", &mut script);
        Ok(out.write_all(&script)?)
    }
}
