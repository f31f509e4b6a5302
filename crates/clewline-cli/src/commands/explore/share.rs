//! The schedules of one matrix, divided among shards.

use std::collections::BTreeMap;

use clewline_core::parallel;
use clewline_explore::{Coverage, Limit};
use clewline_matrix::Learned;
use clewline_methods::line_up::{
    Matrix, check_share,
    parts::{
        PARTS_PER_JOB_MIN, PartEnd, PartId, PartResult, SeenHistory, Segment, Share, WrongExecution, bits_of,
        points_of,
    },
};
use clewline_report::render::Cause;
use serde_json::{Value as Json, json};

use super::{Exploration, State, codec_failure};
use crate::commands::{journal::Journal, merged::Merged, shard::Shard, status::Failure};

impl Exploration<'_> {
    /// Explores the parts of a matrix that belong to a shard, and that its journal does not have.
    pub(super) fn explore_parts(
        &mut self,
        matrix: &Matrix,
        shard: Shard,
        state: &State,
    ) -> Result<(), Failure> {
        let mut known = BTreeMap::new();
        while let Some(unit) = self.journal.as_mut().and_then(Journal::take) {
            let part = from_json(&unit).filter(|it| shard.has(it.0.number as u64));
            let mismatch = || self.journal.as_ref().map(|it| it.mismatch("its parts are others"));
            let (id, result) = part.ok_or_else(|| mismatch().unwrap_or(Failure::BrokenPipe))?;
            known.insert(id, result);
        }
        let is_wrong = |it: &PartResult| u64::from(it.end == PartEnd::Wrong);
        let mut parts = known.len() as u64;
        let mut violated = known.values().map(is_wrong).sum::<u64>();
        let (mut failure, mut journal) = (None, self.journal.as_mut());
        let mut finished = |id: PartId, result: &PartResult| {
            (parts, violated) = (parts + 1, violated + is_wrong(result));
            state.count(result);
            if let Some(Err(error)) = journal.as_mut().map(|it| it.add(to_json(id, result))) {
                failure = Some(error);
            }
        };
        let mut share = Share {
            jobs: self.args.jobs.unwrap_or_else(parallel::jobs_available),
            parts_min: parts_min(shard.count),
            only: Some((shard.index, shard.count)),
            known,
            finished: &mut finished,
        };
        let options = &self.passes[self.pass];
        check_share(self.subject.explorable(), matrix, options, &mut share).map_err(codec_failure)?;
        (self.parts, self.violated) = (parts, violated);
        failure.map_or(Ok(()), Err)
    }

    /// Joins the parts of a matrix that shards have explored.
    pub(super) fn join_parts(
        &mut self,
        merged: &Merged,
        matrix: &Matrix,
        state: &State,
    ) -> Result<(), Failure> {
        let mut known = BTreeMap::new();
        for journal in &merged.shards {
            for unit in &journal.units {
                let part = from_json(unit).filter(|it| journal.shard.has(it.0.number as u64));
                let (id, result) = part.ok_or_else(|| journal.mismatch("its parts are others"))?;
                if known.insert(id, result).is_some() {
                    return Err(journal.mismatch(&format!("part {} is there twice", id.number)));
                }
            }
        }
        let mut share = Share {
            jobs: self.args.jobs.unwrap_or_else(parallel::jobs_available),
            parts_min: parts_min(merged.shards.len() as u64),
            only: None,
            known,
            finished: &mut |_, _| (),
        };
        let checked = check_share(self.subject.explorable(), matrix, self.options(), &mut share);
        match checked.map_err(codec_failure)? {
            Some(checked) => self.visit(checked, state).map(|_| ()),
            None => Err(merged.first().mismatch("parts are missing")),
        }
    }
}

/// The least number of parts of this number of shards.
fn parts_min(shards: u64) -> usize {
    usize::try_from(shards).unwrap_or(usize::MAX).saturating_mul(PARTS_PER_JOB_MIN)
}

fn to_json(id: PartId, result: &PartResult) -> Json {
    let end = match &result.end {
        PartEnd::Done => json!(["done"]),
        PartEnd::Wrong => json!(["wrong"]),
        PartEnd::Needless => json!(["needless"]),
        PartEnd::Late => json!(["late"]),
        PartEnd::Executions => json!(["executions"]),
        PartEnd::Interrupted => json!(["interrupted"]),
        PartEnd::Restart(learned) => json!(["restart", bits_of(learned.points)]),
        PartEnd::Failed(coverage, reason) => {
            json!(["failed", reason.clone().unwrap_or(coverage.to_string())])
        }
    };
    let segments = result.segments.iter().map(segment_json);
    json!({"points": id.points, "part": id.number, "ended": end, "rounds": segments.collect::<Json>()})
}

fn segment_json(segment: &Segment) -> Json {
    let history = |it: &SeenHistory| match (it.needs, &it.unknown) {
        (None, None) => json!([it.key, it.is_stuck]),
        (needs, unknown) => json!([it.key, it.is_stuck, needs, unknown]),
    };
    let wrong = segment.wrong.as_ref().map(|it| {
        json!({
            "cause": it.cause.name(),
            "schedule": it.schedule.to_string(),
            "blocked": it.blocked,
            "explanation": it.explanation,
            "history": it.key,
        })
    });
    json!({
        "round": segment.round,
        "executions": segment.executions,
        "cut": segment.cut,
        "histories": segment.histories.iter().map(history).collect::<Json>(),
        "wrong": wrong,
        "bounded": segment.is_bounded,
        "guess": segment.guess,
        "cut_sentence": segment.cut_sentence,
    })
}

/// The part that was written as `json`; `None` if none was.
fn from_json(json: &Json) -> Option<(PartId, PartResult)> {
    let end = &json["ended"];
    let end = match end[0].as_str()? {
        "done" => PartEnd::Done,
        "wrong" => PartEnd::Wrong,
        "needless" => PartEnd::Needless,
        "late" => PartEnd::Late,
        "executions" => PartEnd::Executions,
        "interrupted" => PartEnd::Interrupted,
        "restart" => PartEnd::Restart(Learned {
            points: points_of(end[1].as_u64()?.try_into().ok()?),
            ..Learned::default()
        }),
        "failed" => PartEnd::Failed(Coverage::Limited(Limit::Other(text(&end[1])?)), None),
        _ => return None,
    };
    let segments = json["rounds"].as_array().filter(|it| !it.is_empty())?;
    let segments = segments.iter().map(segment_of).collect::<Option<Vec<Segment>>>()?;
    let id = PartId {
        points: json["points"].as_u64()?.try_into().ok()?,
        number: json["part"].as_u64()?.try_into().ok()?,
    };
    Some((id, PartResult { segments, end }))
}

fn segment_of(json: &Json) -> Option<Segment> {
    let history = |it: &Json| {
        Some(SeenHistory {
            key: text(&it[0])?,
            is_stuck: it[1].as_bool()?,
            needs: it[2].as_u64().and_then(|it| it.try_into().ok()),
            unknown: text(&it[3]),
        })
    };
    let wrong = match &json["wrong"] {
        Json::Null => None,
        wrong => Some(WrongExecution {
            cause: Cause::ALL.into_iter().find(|it| wrong["cause"] == it.name())?,
            schedule: wrong["schedule"].as_str()?.parse().ok()?,
            blocked: wrong["blocked"].as_array()?.iter().map(number).collect::<Option<_>>()?,
            explanation: text(&wrong["explanation"]),
            key: text(&wrong["history"])?,
        }),
    };
    Some(Segment {
        round: json["round"].as_u64()?.try_into().ok()?,
        executions: json["executions"].as_u64()?,
        cut: json["cut"].as_u64()?,
        histories: json["histories"].as_array()?.iter().map(history).collect::<Option<_>>()?,
        wrong,
        is_bounded: json["bounded"].as_bool()?,
        guess: text(&json["guess"]),
        cut_sentence: text(&json["cut_sentence"]),
    })
}

fn text(json: &Json) -> Option<String> {
    json.as_str().map(str::to_owned)
}

fn number(json: &Json) -> Option<usize> {
    json.as_u64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        let history = SeenHistory { key: "\"1\">".to_owned(), is_stuck: true, needs: None, unknown: None };
        let needed = SeenHistory { needs: Some(2), unknown: Some("why".to_owned()), ..history.clone() };
        let wrong = WrongExecution {
            cause: Cause::Deadlock,
            schedule: "a3b=2".parse().unwrap(),
            blocked: vec![1, 2],
            explanation: Some("it is late".to_owned()),
            key: "?>0".to_owned(),
        };
        let first = Segment { executions: 7, cut: 1, histories: vec![history, needed], ..Segment::default() };
        let last = Segment {
            round: 2,
            wrong: Some(wrong),
            is_bounded: true,
            guess: Some("here".to_owned()),
            cut_sentence: Some("were long".to_owned()),
            ..Segment::default()
        };
        let failed = PartEnd::Failed(Coverage::Limited(Limit::Other("no".to_owned())), None);
        for end in [
            PartEnd::Done,
            PartEnd::Wrong,
            PartEnd::Needless,
            PartEnd::Late,
            PartEnd::Executions,
            PartEnd::Interrupted,
            PartEnd::Restart(Learned { points: points_of(5), ..Learned::default() }),
            failed,
        ] {
            let (id, result) = (
                PartId { points: 3, number: 9 },
                PartResult { segments: vec![first.clone(), last.clone()], end },
            );
            assert_eq!(from_json(&to_json(id, &result)), Some((id, result)));
        }
        assert_eq!(from_json(&json!({"part": 1})), None);
    }
}
