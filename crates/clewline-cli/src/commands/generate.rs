//! `clewline generate`: histories made to order.

use std::{path::PathBuf, str::FromStr};

use clewline_core::{GeneratorConfig, ParseError, ValueDomain};
use clewline_methods::generate::{Violate, plant};
use clewline_specs::{check_mix, find};

use super::{
    output::{DASH, format_of, write},
    status::{Failure, Status},
    units,
};

/// Make a history, linearizable or with a planted violation
///
/// A simulated object takes effect at one moment between each call and return, so the history is linearizable
/// by construction. With --violate it is changed in one place, and then certainly is not. The same options
/// and seed give the same history, on every machine.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The object, as `clewline specs` lists them
    #[arg(long, value_name = "NAME")]
    spec: String,

    /// How many operations are called
    #[arg(long, value_name = "N", default_value_t = 100)]
    operations: usize,

    /// How many processes call them
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    processes: usize,

    /// What everything random follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How many operations are open at a time: from 0 (none overlaps another) to 1 (every process is always busy)
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = units::share)]
    overlap: f64,

    /// How often each method is called, as in enq=3,deq=7 [default: all alike]
    #[arg(long, value_name = "METHOD=WEIGHT,…", value_delimiter = ',', value_parser = weight)]
    mix: Vec<(String, u32)>,

    /// Values are the integers below N; or `distinct`: 1, 2, 3, … and none twice; or `shuffled`: none twice, in no order
    #[arg(long, value_name = "N|distinct|shuffled", default_value = "20", value_parser = domain)]
    values: ValueDomain,

    /// How many keys there are, for maps
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    keys: usize,

    /// How many objects there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    objects: usize,

    /// The share of operations that never return
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pending: f64,

    /// Plant a violation: swap (two answers are exchanged), stale (an old answer is given), lost (an operation
    /// with an effect is missing), duplicate (an answer is given twice), invented (an answer nobody gave)
    #[arg(long, value_name = "KIND", value_parser = Violate::from_str)]
    violate: Option<Violate>,

    /// Where to write it; `-` is standard output
    #[arg(short, value_name = "FILE", default_value = DASH)]
    out: PathBuf,

    /// The format to write [default: by the file's extension, else jsonl]
    #[arg(long, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  clewline generate --spec queue --operations 30
  clewline generate --spec map --operations 100000 --processes 16 --overlap 0.9 -o big.jsonl
  clewline generate --spec stack --mix push=3,pop=7 --values distinct --seed 42
  clewline generate --spec queue --violate swap | clewline check - --spec queue";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let format = format_of(args.output.as_deref(), &args.out)?;
    let specification = find(&args.spec).map_err(|it| Failure::Told(it.to_string()))?;
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
    let mut recording = specification.generate(&plan);
    if let Some(kind) = args.violate {
        recording = plant(&*specification, &recording, kind, args.seed)
            .map_err(|it| Failure::Told(it.to_string()))?;
    }
    write(&recording, format, &args.out)?;
    Ok(Status::Done)
}

pub(super) fn at_least_one(text: &str) -> Result<usize, ParseError> {
    let number = text.parse::<usize>().ok().filter(|&it| it != 0);
    number.ok_or_else(|| ParseError::new("a number from 1", text))
}

pub(super) fn weight(text: &str) -> Result<(String, u32), ParseError> {
    let pair = text.split_once('=').and_then(|(name, weight)| Some((name.to_owned(), weight.parse().ok()?)));
    pair.ok_or_else(|| ParseError::new("METHOD=WEIGHT, as in enq=3", text))
}

pub(super) fn domain(text: &str) -> Result<ValueDomain, ParseError> {
    match text {
        "distinct" => return Ok(ValueDomain::Distinct),
        "shuffled" => return Ok(ValueDomain::Shuffled),
        _ => (),
    }
    let bound = text.parse::<u32>().ok().filter(|&it| it != 0).map(ValueDomain::Below);
    bound.ok_or_else(|| ParseError::new("`distinct`, `shuffled` or a number from 1", text))
}
