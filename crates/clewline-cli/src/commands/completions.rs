//! `clewline completions`: shell completion scripts.

use clap_complete::Shell;

use super::{
    output::Stdout,
    status::{Failure, Status},
};

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  clewline completions bash > ~/.local/share/bash-completion/completions/clewline
  clewline completions zsh > ~/.zfunc/_clewline
  clewline completions fish > ~/.config/fish/completions/clewline.fish";

pub(super) fn run(args: &Args, mut command: clap::Command) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "clewline", &mut script);
    Stdout::new().print(&script)?;
    Ok(Status::Done)
}
