//! Entries of summaries, as a journal keeps them.

use clewline_report::render::{
    Cause,
    block::Block,
    summary::{SummaryEntry, Word},
};
use serde_json::{Value as Json, json};

use super::journal::milliseconds;

/// An entry as JSON.
pub(super) fn to_json(entry: &SummaryEntry) -> Json {
    let SummaryEntry { name, verdict, cause, headline, blocks, work, algorithm, elapsed, place, next, page } =
        entry;
    let block = |it: &Block| json!(it.kind());
    json!({
        "name": name,
        "verdict": verdict.as_str(),
        "cause": cause.map(Cause::name),
        "headline": headline,
        "blocks": blocks.iter().map(block).collect::<Json>(),
        "work": work,
        "algorithm": algorithm,
        "elapsed_ms": elapsed.as_millis() as u64,
        "place": place,
        "next": next,
        "page": page,
    })
}

/// The entry that was written as `json`; `None` if it was not.
pub(super) fn from_json(json: &Json) -> Option<SummaryEntry> {
    let text = |it: &Json| Some(it.as_str()?.to_owned());
    let texts = |it: &Json| it.as_array()?.iter().map(text).collect::<Option<Vec<String>>>();
    let block = |it: &Json| Block::of_kind(it[0].as_str()?, texts(&it[1])?);
    let place = &json["place"];
    Some(SummaryEntry {
        name: text(&json["name"])?,
        verdict: Word::find(json["verdict"].as_str()?)?,
        cause: Cause::ALL.into_iter().find(|it| json["cause"] == it.name()),
        headline: text(&json["headline"])?,
        blocks: json["blocks"].as_array()?.iter().map(block).collect::<Option<_>>()?,
        work: json["work"].as_u64(),
        algorithm: text(&json["algorithm"])?,
        elapsed: milliseconds(&json["elapsed_ms"]),
        place: text(&place[0]).map(|it| (it, place[1].as_u64().map(|it| it as usize))),
        next: texts(&json["next"])?,
        page: text(&json["page"]),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let texts = || vec!["one".to_owned(), "two".to_owned()];
        let entry = SummaryEntry {
            name: "a\nb".to_owned(),
            verdict: Word::Violated,
            cause: Some(Cause::MemoryLeak),
            headline: "it leaks".to_owned(),
            blocks: vec![
                Block::Paragraph(texts()),
                Block::Where("w".to_owned()),
                Block::List(texts()),
                Block::Lead("l".to_owned()),
                Block::caption("c"),
                Block::Drawing(texts()),
            ],
            work: Some(u64::MAX),
            algorithm: String::new(),
            elapsed: Duration::from_millis(1_234),
            place: Some(("f".to_owned(), Some(3))),
            next: texts(),
            page: Some("p.html".to_owned()),
        };
        let plain = SummaryEntry { cause: None, work: None, place: None, page: None, ..entry.clone() };
        let nowhere = SummaryEntry { place: Some(("f".to_owned(), None)), ..entry.clone() };
        for entry in [entry, plain, nowhere] {
            assert_eq!(format!("{:?}", from_json(&to_json(&entry)).unwrap()), format!("{entry:?}"));
        }
        assert!(from_json(&json!({"name": "a"})).is_none());
    }
}
