//! A count of all histories of a matrix, asked of a program and answered by it.
//!
//! The program explores itself in a process of its own, so question and answer are text: one JSON object each. The question is in
//! an environment variable, the answer is the last line on standard output.

use std::time::Duration;

use clewline_check::relaxed::enumeration::Counts;
use clewline_core::Misfit;
use clewline_explore::{Coverage, Limit};
use clewline_threads::Explorable;
use serde_json::{Map, Value as Json, json};

use super::{error::Error, program::Program};
use clewline_methods::{
    census::{Census, Counting, Readings, count},
    line_up::{Matrix, Options, calls},
    relaxed::Quasi,
};

/// Holds the question.
pub const CENSUS_VARIABLE: &str = "CLEWLINE_CENSUS";

/// What a program is asked to count.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The calls.
    pub matrix: Matrix,
    /// What is right: the name of a specification.
    pub plain: String,
    /// The specification of the relaxed reading, with its factor.
    pub relaxed: String,
    /// The factors of the displacement reading.
    pub factors: String,
    /// The factors with which permutations are enumerated.
    pub enumerated: String,
    /// At most so many executions.
    pub executions_max: u64,
    /// At most so long.
    pub time: Option<Duration>,
}

impl Asked {
    /// The question as it is asked.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Matrix { initial, last, .. } = &self.matrix;
        let object = json!({
            "matrix": self.matrix.to_string(),
            "initial": initial.join(" "),
            "final": last.join(" "),
            "plain": self.plain,
            "relaxed": self.relaxed,
            "factors": self.factors,
            "enumerated": self.enumerated,
            "executions": self.executions_max,
            "time_ms": self.time.map(millis),
        });
        object.to_string()
    }

    fn from_json(text: &str) -> Option<Asked> {
        let object: Map<String, Json> = serde_json::from_str(text).ok()?;
        let text = |name: &str| Some(object.get(name)?.as_str()?.to_owned());
        let matrix: Matrix = text("matrix")?.parse().ok()?;
        Some(Asked {
            matrix: Matrix {
                initial: calls(&text("initial")?).ok()?,
                last: calls(&text("final")?).ok()?,
                ..matrix
            },
            plain: text("plain")?,
            relaxed: text("relaxed")?,
            factors: text("factors")?,
            enumerated: text("enumerated")?,
            executions_max: object.get("executions")?.as_u64()?,
            time: object.get("time_ms")?.as_u64().map(Duration::from_millis),
        })
    }

    /// What histories are asked.
    ///
    /// # Errors
    ///
    /// If the factors are none.
    pub fn readings(&self) -> Result<Readings, Misfit> {
        let factors = |text: &str| Quasi::parse(text).map_err(|it| Misfit(it.to_string()));
        Ok(Readings {
            plain: self.plain.clone(),
            relaxed: self.relaxed.clone(),
            factors: factors(&self.factors)?,
            enumerated: factors(&self.enumerated)?,
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What a program answers, that is asked to count: one line.
///
/// # Errors
///
/// If it cannot be counted, or it is no question.
pub fn answer(subject: &dyn Explorable, question: &str) -> Result<String, Misfit> {
    let asked = Asked::from_json(question)
        .ok_or_else(|| Misfit(format!("{CENSUS_VARIABLE}: expected a question; found `{question}`")))?;
    let options = Options { executions_max: asked.executions_max, time: asked.time, ..Options::default() };
    let census = count(subject, &asked.matrix, &asked.readings()?, Counting::Distinct, &options)?;
    Ok(to_json(&census))
}

impl Program {
    /// Asks it to count all histories of a matrix.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub fn census(&self, asked: &Asked) -> Result<Census, Error> {
        let ran = self.capture_with(&[(CENSUS_VARIABLE, &asked.to_json())])?;
        let answer = ran.stdout.lines().last().and_then(read_answer);
        answer.ok_or_else(|| Error::Killed { how: format!("no answer\n{}{}", ran.stdout, ran.stderr) })
    }
}

const EXHAUSTED: &str = "exhausted";
const CUT: &str = "cut";

fn to_json(census: &Census) -> String {
    let counts = &census.counts;
    let object = json!({
        "executions": census.executions,
        "histories": census.histories,
        "not_linearizable": census.not_linearizable,
        "not_relaxed": census.not_relaxed,
        "not_displaced": census.not_displaced,
        "broken": census.broken,
        "unknown": census.unknown,
        "sequentializations": counts.sequentializations,
        "permutations": counts.permutations,
        "coverage": match &census.coverage {
            Coverage::Exhausted => EXHAUSTED.to_owned(),
            Coverage::Limited(Limit::Cut(_)) => CUT.to_owned(),
            Coverage::Limited(Limit::Diverged(diverged)) => format!("diverged: {diverged}"),
            Coverage::Limited(_) => "limited".to_owned(),
        },
        "is_bounded": census.is_bounded,
        "elapsed_us": micros(census.elapsed[1]),
        "enumerated_us": micros(census.enumerated),
    });
    object.to_string()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// What a program answered, if that line is an answer.
#[must_use]
pub fn read_answer(text: &str) -> Option<Census> {
    let object: Map<String, Json> = serde_json::from_str(text).ok()?;
    let number = |name: &str| object.get(name)?.as_u64();
    let told = |name: &str| Some(object.get(name)?.as_str()?.to_owned());
    let coverage = told("coverage")?;
    let is_diverged = coverage.starts_with("diverged");
    Some(Census {
        serial_histories: 0,
        executions: number("executions")?,
        histories: number("histories")?,
        not_linearizable: number("not_linearizable")?,
        not_relaxed: number("not_relaxed")?,
        not_displaced: number("not_displaced")?,
        broken: number("broken")?,
        // What differs from run to run says little, whatever was counted.
        unknown: told("unknown").or_else(|| is_diverged.then(|| coverage.clone())),
        counts: Counts {
            sequentializations: number("sequentializations")?,
            permutations: number("permutations")?,
            ..Counts::default()
        },
        coverage: match coverage.as_str() {
            EXHAUSTED => Coverage::Exhausted,
            CUT => Coverage::Limited(Limit::Cut(1)),
            _ => Coverage::Limited(Limit::Stopped),
        },
        is_bounded: object.get("is_bounded")?.as_bool()?,
        elapsed: [Duration::ZERO, Duration::from_micros(number("elapsed_us")?)],
        enumerated: Duration::from_micros(number("enumerated_us")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_methods::relaxed::Roles;

    fn asked() -> Asked {
        Asked {
            matrix: Roles::of("stack").unwrap().shape(2, 2, 4),
            plain: "stack".to_owned(),
            relaxed: "quasi-stack:2".to_owned(),
            factors: "push=0,pop=2".to_owned(),
            enumerated: "push=2,pop=2".to_owned(),
            executions_max: 100_000,
            time: None,
        }
    }

    #[test]
    fn a_question_is_read_as_it_is_written() {
        let asked = Asked { time: Some(Duration::from_millis(7)), ..asked() };
        let again = Asked::from_json(&asked.to_json()).unwrap();
        assert_eq!(again.to_json(), asked.to_json());
        assert_eq!((&again.matrix, again.time), (&asked.matrix, asked.time));
        assert!(!asked.matrix.initial.is_empty() && Asked::from_json("{}").is_none());
    }
}
