//! `imid completions`: prints a completion script.

use std::io::Write;

use clap::{Arg, Command, CommandFactory, ValueHint};
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
        clap_complete::generate(self.shell, &mut with_values(Cli::command()), "imid", &mut script);
        Ok(out.write_all(&script)?)
    }
}

/// Says which values of arguments are files: without a hint, shells offer files for all of them.
fn with_values(command: Command) -> Command {
    command.mut_args(with_value).mut_subcommands(with_values)
}

fn with_value(argument: Arg) -> Arg {
    if !argument.get_action().takes_values() {
        return argument;
    }
    let name = argument.get_value_names().and_then(<[_]>::first).map(|name| name.as_str());
    let hint = match name {
        Some(name) if name.starts_with("FILE") => ValueHint::FilePath,
        Some("FOLDER") => ValueHint::DirPath,
        _ => ValueHint::Other,
    };
    argument.value_hint(hint)
}
