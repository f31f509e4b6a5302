//! `clewline generate`: random histories.

use std::{path::PathBuf, str::FromStr};

use clewline_core::{GeneratorConfig, ParseError, ValueDomain};
use clewline_specs::{check_mix, find};

use super::{
    output::{DASH, format_of, write},
    signals::until_interrupted,
    status::{Failure, Status},
    units,
};
use crate::planting::{Violate, plant};

/// Generate a random history, linearizable or with a planted violation
///
/// Every operation takes effect on a simulated object at one linearization point between its
/// invocation and its response, so the history is linearizable by construction. With --violate one
/// change is made after which no linearization exists. The same options and seed generate the same
/// history on every machine.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Sequential specification of the object; `clewline specs` lists them; or a Starlark file
    #[arg(long, value_name = "NAME|FILE.star")]
    spec: String,

    /// Total number of operations
    #[arg(long, value_name = "N", default_value_t = 100)]
    operations: usize,

    /// Number of processes
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    processes: usize,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Degree of overlap, from 0 (sequential) to 1 (every process always has an open operation)
    #[arg(long, value_name = "FRACTION", default_value = "0.5", value_parser = units::share)]
    overlap: f64,

    /// Relative frequency of each method, for example enq=3,deq=7 [default: uniform]
    #[arg(long, value_name = "METHOD=WEIGHT,…", value_delimiter = ',', value_parser = weight)]
    mix: Vec<(String, u32)>,

    /// Values to use: random integers below N; `distinct`: 1, 2, 3, …, each once; `shuffled`: each
    /// once, in random order
    #[arg(long, value_name = "N|distinct|shuffled", default_value = "20", value_parser = domain)]
    values: ValueDomain,

    /// Number of keys (maps only)
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    keys: usize,

    /// Number of objects
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    objects: usize,

    /// Fraction of operations that stay pending (never return)
    #[arg(long, value_name = "FRACTION", default_value = "0", value_parser = units::share)]
    pending: f64,

    /// Plant a violation: swap (exchange two results), stale (return an old result), lost (remove
    /// an operation that had an effect), duplicate (return a result twice), invented (return a
    /// value that was never written)
    #[arg(long, value_name = "KIND", value_parser = Violate::from_str)]
    violate: Option<Violate>,

    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = DASH)]
    output: PathBuf,

    /// Format to write [default: by file extension, otherwise jsonl]
    #[arg(long, value_name = "FORMAT")]
    output_format: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  clewline generate --spec queue --operations 30
  clewline generate --spec map --operations 100000 --processes 16 --overlap 0.9 -o big.jsonl
  clewline generate --spec stack --mix push=3,pop=7 --values distinct --seed 42
  clewline generate --spec queue --violate swap | clewline check - --spec queue";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let format = format_of(args.output_format.as_deref(), &args.output)?;
    let specification = find(&args.spec).map_err(|it| Failure::Message(it.to_string()))?;
    check_mix(&args.spec, &args.mix).map_err(|it| Failure::at("--mix", it))?;
    let plan = GeneratorConfig {
        operations: args.operations,
        processes: args.processes,
        overlap: args.overlap,
        mix: args.mix.clone(),
        values: args.values,
        keys: args.keys,
        objects: args.objects,
        pending: args.pending,
        seed: args.seed,
    };
    let (violate, seed) = (args.violate, args.seed);
    let recording = until_interrupted(move || {
        let recording = specification.generate(&plan);
        if let Some(fault) = specification.fault() {
            return Err(Failure::Message(fault));
        }
        let Some(kind) = violate else { return Ok(recording) };
        plant(&*specification, &recording, kind, seed).map_err(|it| Failure::Message(it.to_string()))
    })??;
    write(&recording, format, &args.output)?;
    Ok(Status::Done)
}

pub(super) fn at_least_one(text: &str) -> Result<usize, ParseError> {
    let number = text.parse::<usize>().ok().filter(|&it| it != 0);
    number.ok_or_else(|| ParseError::new("a number of at least 1", text))
}

pub(super) fn weight(text: &str) -> Result<(String, u32), ParseError> {
    let pair = text.split_once('=').and_then(|(name, weight)| Some((name.to_owned(), weight.parse().ok()?)));
    pair.ok_or_else(|| ParseError::new("METHOD=WEIGHT, for example enq=3", text))
}

pub(super) fn domain(text: &str) -> Result<ValueDomain, ParseError> {
    match text {
        "distinct" => return Ok(ValueDomain::Distinct),
        "shuffled" => return Ok(ValueDomain::Shuffled),
        _ => (),
    }
    let bound = text.parse::<u32>().ok().filter(|&it| it != 0).map(ValueDomain::Below);
    bound.ok_or_else(|| ParseError::new("`distinct`, `shuffled` or a number of at least 1", text))
}
