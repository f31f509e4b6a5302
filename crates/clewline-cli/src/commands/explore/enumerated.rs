//! `--judge enumeration`: quasi linearizability decided as in the paper of Round-Up.

use clewline_explore::Coverage;
use clewline_lab::{
    census::{Census, Readings, count},
    enumeration::{Counting, Enumeration, EnumerationPlan, SerialCalls},
};
use clewline_methods::{line_up::Matrix, relaxed::ElementCalls};
use clewline_report::render::{
    block::{self, Block},
    grouped,
};
use serde_json::json;

use super::{args::Args, plan, subject::Subject};
use crate::commands::{
    output::{Output, Stdout},
    quasi,
    status::{Failure, Status},
};

/// The width of a text.
const LINE_COLUMNS_MAX: usize = 80;

/// Explores one matrix, and judges each history by enumeration.
pub(super) fn run(args: &Args, subject: &Subject<'_>) -> Result<Status, Failure> {
    let wrong = |it: &str| Failure::at("--judge enumeration", it);
    let quasi = quasi::parse(args.quasi.as_deref(), args.reading.as_deref())?;
    let quasi = quasi.ok_or_else(|| wrong("it needs factors: give --quasi, as in enq=2,deq=2"))?;
    if quasi.factors().asked().is_some() {
        return Err(wrong("it cannot find the smallest factor: give a number instead of `?`"));
    }
    refuse(args)?;
    let plan = plan::of(args, subject, None)?;
    let matrix = plan.only().filter(|_| args.matrix.is_some());
    let matrix = matrix.ok_or_else(|| wrong("it needs exactly one matrix: give --matrix"))?;
    let spec = if args.spec == "serial" { subject.spec() } else { Some(args.spec.as_str()) };
    let spec = spec.ok_or_else(|| wrong("the subject has no specification: give --spec"))?;
    // The golden model is sequential, and not relaxed itself.
    let spec = ElementCalls::plain(spec).to_owned();
    let options = plan::options(args, subject, &plan)?;
    let serial = SerialCalls::of(&matrix.initial, &matrix.columns, &matrix.last);
    let golden = serial.len();
    let mut enumeration = Enumeration::among(EnumerationPlan::PAPER, serial);
    let readings = Readings {
        plain: spec.clone(),
        relaxed: spec.clone(),
        factors: quasi.clone(),
        enumerated: quasi.clone(),
    };
    let counted =
        count(subject.explorable(), &matrix, &readings, Counting::Optimized, &options, &mut enumeration);
    let census = counted.map_err(|it| Failure::Message(it.to_string()))?;
    let outcome =
        Enumerated { args, factors: quasi.factors().to_string(), spec, golden, matrix, census: &census };
    let text = match args.format {
        Output::Text => outcome.text(),
        Output::Json => format!("{}\n", outcome.json()),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(outcome.status())
}

/// Refuses what is about a search, or about several matrices.
fn refuse(args: &Args) -> Result<(), Failure> {
    let asked = [
        ("--golden", args.golden.is_some()),
        ("--html", args.drawings.have_page()),
        ("--svg", args.drawings.have_picture()),
        ("--junit, --markdown or --annotations", args.summaries.are_asked_for()),
        ("--violation", args.violation.is_some()),
        ("--journal", args.journal.journal.is_some()),
        ("--shard", args.shard.shard.is_some()),
        ("--replay", args.replay.is_some()),
        ("--histories", args.histories),
    ];
    match asked.into_iter().find(|it| it.1) {
        Some((name, _)) => Err(Failure::Message(format!("--judge enumeration: not with {name}"))),
        None => Ok(()),
    }
}

/// What was counted.
struct Enumerated<'a> {
    args: &'a Args,
    factors: String,
    spec: String,
    // The number of serial histories of the golden model.
    golden: usize,
    matrix: Matrix,
    census: &'a Census,
}

impl Enumerated<'_> {
    fn status(&self) -> Status {
        let Census { not_enumerated, broken, unknown, coverage, .. } = self.census;
        match (not_enumerated + broken, unknown, coverage) {
            (0, None, Coverage::Exhausted) => Status::Done,
            (0, ..) => Status::Unknown,
            _ => Status::Violated,
        }
    }

    fn word(&self) -> &'static str {
        match self.status() {
            Status::Done => "holds",
            Status::Violated => "violated",
            _ => "unknown",
        }
    }

    fn text(&self) -> String {
        let Census { histories, not_enumerated, broken, counts, executions, coverage, .. } = self.census;
        let (subject, factors, spec) = (&self.args.subject, &self.factors, &self.spec);
        let verb = match self.status() {
            Status::Done => "is",
            Status::Violated => "is not",
            _ => "may be",
        };
        let mut blocks = vec![Block::paragraph(format!(
            "{} of {} histories have no permutation within these factors that is one of the {} serial histories \
             that these calls have on a {spec}.",
            grouped(*not_enumerated),
            grouped(*histories),
            grouped(self.golden as u64)
        ))];
        if let Some(first) = &self.census.first_not_enumerated {
            let first = first.join(", ");
            blocks.push(Block::paragraph(format!("The first of them, in the order of its calls: {first}.")));
        }
        if 0 < *broken {
            blocks.push(Block::paragraph(format!("{} executions panicked or got stuck.", grouped(*broken))));
        }
        if let Some(why) = &self.census.unknown {
            blocks.push(Block::paragraph(format!("Some history was not judged: {why}.")));
        }
        let mut text = format!(
            "{}: {subject} {verb} quasi linearizable with {factors}, by enumeration\n\n",
            self.word()
        );
        text.push_str(&block::wrap(&blocks, LINE_COLUMNS_MAX));
        for (name, calls) in [("initial:", &self.matrix.initial), ("final:", &self.matrix.last)] {
            if !calls.is_empty() {
                text.push_str(&format!("\n{name:9} {}", calls.join(" ")));
            }
        }
        text.push_str(&format!(
            "\nmatrix:   {}\nexplored: {} executions\ntried:    {} sequentializations, {} permutations\ncoverage: {coverage}\n",
            self.matrix,
            grouped(*executions),
            grouped(counts.sequentializations),
            grouped(counts.permutations)
        ));
        text
    }

    fn json(&self) -> serde_json::Value {
        let Census { histories, not_enumerated, broken, counts, executions, coverage, .. } = self.census;
        json!({
            "subject": self.args.subject,
            "judge": "enumeration",
            "quasi": self.factors,
            "spec": self.spec,
            "matrix": self.matrix.to_string(),
            "verdict": self.word(),
            "serial": self.golden,
            "executions": executions,
            "histories": histories,
            "violated": not_enumerated,
            "first_violated": self.census.first_not_enumerated,
            "broken": broken,
            "sequentializations": counts.sequentializations,
            "permutations": counts.permutations,
            "coverage": coverage.to_string(),
        })
    }
}
