//! A flag for each bound of a scheduler, from the tables of schedulers.

use std::{fmt, marker::PhantomData};

use clap::{Arg, ArgMatches, Command, FromArgMatches};
use clewline_explore::{Bound, Bounds, schedulers};

use super::status::Failure;

/// A table of schedulers.
pub(super) trait Table {
    /// All bounds of these schedulers, without duplicates.
    fn bounds() -> Vec<&'static Bound>;

    /// The names of the schedulers that have this bound.
    fn with(bound: &Bound) -> Vec<&'static str>;
}

/// Schedulers of threads.
#[derive(Debug)]
pub(super) struct OfThreads;

impl Table for OfThreads {
    fn bounds() -> Vec<&'static Bound> {
        schedulers::bounds()
    }

    fn with(bound: &Bound) -> Vec<&'static str> {
        let have = schedulers::SCHEDULERS.iter().filter(|it| it.bounds.contains(bound));
        have.map(|it| it.name).collect()
    }
}

/// Schedulers of messages.
#[cfg(feature = "lab")]
#[derive(Debug)]
pub(super) struct OfMessages;

#[cfg(feature = "lab")]
impl Table for OfMessages {
    fn bounds() -> Vec<&'static Bound> {
        clewline_actors::schedulers::bounds()
    }

    fn with(bound: &Bound) -> Vec<&'static str> {
        let have = clewline_actors::schedulers::SCHEDULERS.iter().filter(|it| it.bounds.contains(bound));
        have.map(|it| it.name).collect()
    }
}

/// The values of the flags.
#[derive(Debug)]
pub(super) struct BoundFlags<T> {
    /// The bounds that are set.
    pub(super) bounds: Bounds,
    table: PhantomData<T>,
}

impl<T: Table> BoundFlags<T> {
    /// Fails if a flag is a bound of other schedulers than this one; `none` is true of any.
    pub(super) fn fit(&self, scheduler: &str, own: &[Bound]) -> Result<(), Failure> {
        let is_strange =
            |it: &&Bound| self.bounds.is_set(it) && self.bounds.get(it).is_some() && !own.contains(it);
        let strange = T::bounds().into_iter().find(is_strange);
        let Some(bound) = strange else { return Ok(()) };
        let others: Vec<String> = T::with(bound).iter().map(|it| format!("`{it}`")).collect();
        let message =
            format!("the scheduler `{scheduler}` has no such bound; it is one of {}", others.join(", "));
        Err(Failure::at(&format!("--{}", bound.name), message))
    }
}

impl<T: Table> FromArgMatches for BoundFlags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = BoundFlags { bounds: Bounds::default(), table: PhantomData };
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for bound in T::bounds() {
            if let Some(value) = matches.get_one::<Option<u32>>(bound.name) {
                self.bounds.set(bound, *value);
            }
        }
        Ok(())
    }
}

impl<T: Table + fmt::Debug> clap::Args for BoundFlags<T> {
    fn augment_args(command: Command) -> Command {
        T::bounds().into_iter().fold(command, |command, bound| command.arg(flag(bound)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(bound: &'static Bound) -> Arg {
    Arg::new(bound.name)
        .long(bound.name)
        .value_name(if bound.may_be_none { "N|none" } else { "N" })
        .help(format!("{} [default: {}]", bound.help, bound.default))
        .allow_negative_numbers(true)
        .value_parser(|text: &str| {
            bound.parse(text).ok_or_else(|| format!("expected {}; found `{text}`", bound.expected()))
        })
}
