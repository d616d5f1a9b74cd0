//! `imid completions`: prints a completion script.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, CommandFactory, ValueEnum, ValueHint};
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
    #[arg(value_name = "SHELL", value_parser = shell())]
    shell: Shell,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut with_values(Cli::command()), "imid", &mut script);
        Ok(out.write_all(&script)?)
    }
}

/// Reads the name of a shell. The completions of others were never run.
fn shell() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(["bash", "zsh", "fish"]).try_map(|name| Shell::from_str(&name, true))
}

/// Says which values of arguments are files: without a hint, shells offer files for all of them.
fn with_values(command: Command) -> Command {
    command.mut_args(with_value).mut_subcommands(with_values)
}

fn with_value(argument: Arg) -> Arg {
    if !argument.get_action().takes_values() {
        return argument;
    }
    let name = argument.get_value_names().and_then(<[_]>::first).map(clap::builder::Str::as_str);
    let hint = match name {
        Some(name) if name.starts_with("FILE") => ValueHint::FilePath,
        _ => ValueHint::Other,
    };
    argument.value_hint(hint)
}
