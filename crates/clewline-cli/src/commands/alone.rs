//! `clewline explore` for a subject that is in no table: a program that explores itself.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};

use super::{explore, registered::Registered, status::told};

// Read by the runtime, which knows these alone.
const OWN: &str = "\
Options of code as it stands:
  --points <racing|all|atomics>  Which plain accesses are points, besides atomic ones [default: racing]
  --reuse <never|any>            Whether freed memory may be handed out again, by the choice of the schedule [default: never]
  --isolate                      Run each execution in a process of its own, which takes some hundred times as long
  --racing <ADDRESS, …>          Places that race, as a report names them for a replay

Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown (and nothing violated).";

#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    args: explore::Args,
}

/// Explores it, as the arguments of `clewline explore` say that follow the subject. Answers how that ended, as an exit code does.
#[must_use]
pub fn explore_registered(given: Registered, arguments: Vec<OsString>) -> u8 {
    let command = Alone::command().mut_arg("subject", |it| it.hide(true)).after_help(OWN);
    let all = [given.name.clone().into(), given.name.clone().into()].into_iter().chain(arguments);
    let matches = command.get_matches_from(all);
    let args = match Alone::from_arg_matches(&matches) {
        Ok(alone) => alone.args,
        Err(error) => error.exit(),
    };
    told(explore::run_registered(args, given)) as u8
}
