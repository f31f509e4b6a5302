//! The outcome of a check.

use std::{fmt, io, time::Duration};

use clewline_check::Judgement;
use clewline_core::{Case, Verdict};
use clewline_report::render::{
    Judged, Source, Stream, WitnessShown,
    html::{Core, Page},
    json,
    summary::{Entry, Word},
    svg::{self, Ground},
    text::{self, Paint, Style},
};

use super::places;
use crate::{
    page::{after_word, page_of},
    relaxed::{QuasiReading, Told},
};

/// A verdict on one history, with all that can be told about it. Displays as the report for people.
#[must_use = "the verdict is in it: ask `verdict` or `holds`"]
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) spec: String,
    pub(crate) case: Box<dyn Case + 'a>,
    pub(crate) judgement: Judgement,
    pub(crate) elapsed: Duration,
    pub(crate) stream: Option<Stream>,
    pub(crate) quasi: Option<Told>,
}

impl Report<'_> {
    /// The verdict, with its evidence.
    pub fn verdict(&self) -> &Verdict {
        &self.judgement.verdict
    }

    /// Whether the history is linearizable, for certain.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self.judgement.verdict, Verdict::Holds(_))
    }

    /// The name of the checker that decided, or of several.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.judgement.algorithm
    }

    /// The least quasi factor with which it holds, if it was asked for and there is one.
    #[must_use]
    pub fn least_factor(&self) -> Option<u32> {
        self.quasi.as_ref().and_then(|it| it.least)
    }

    /// How many operations the history has.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.judged().operations()
    }

    /// How many objects they are about.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.judged().objects()
    }

    /// How long it took to read and judge.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The history that was judged: what its operations are called, and by whom they were.
    #[must_use]
    pub fn case(&self) -> &dyn Case {
        &*self.case
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self, style: &Style<'_>) -> String {
        let told = match &self.quasi {
            Some(told) if told.reading == QuasiReading::Displacement => {
                return places::text(self, told, style);
            }
            Some(told) => told.about_least(self.verdict()),
            None => None,
        };
        let text = text::report(&self.judged(), style);
        match (told, text.split_once('\n')) {
            (Some(least), Some((headline, rest))) => format!("{headline}\n\n  {least}\n{rest}"),
            (_, _) => text,
        }
    }

    /// The first line of that report, which is the verdict.
    #[must_use]
    pub fn headline(&self, paint: Paint) -> String {
        match &self.quasi {
            Some(told) if told.reading == QuasiReading::Displacement => places::headline(self, told, paint),
            Some(_) | None => text::headline(&self.judged(), paint),
        }
    }

    /// Writes the report for programs: one JSON object, on one line.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_json(&self, witness: WitnessShown, out: &mut dyn io::Write) -> io::Result<()> {
        let Some(told) = &self.quasi else { return json::report(&self.judged(), witness, out) };
        if told.reading == QuasiReading::Displacement {
            return places::write_json(self, told, witness, out);
        }
        let mut line = Vec::new();
        json::report(&self.judged(), witness, &mut line)?;
        out.write_all(line.strip_suffix(b"}\n").unwrap_or(&line))?;
        writeln!(out, ",\"quasi\":{}}}", told.json())
    }

    /// The report as a page that stands by itself, with commands to type next. [`write`](crate::render::html::write) makes a file of it.
    #[must_use]
    pub fn page(&self, next: &[String]) -> Page {
        let mut page = page_of(&self.judged(), next);
        after_word(&self.headline(Paint::Plain)).clone_into(&mut page.headline);
        if let Some(told) = &self.quasi {
            if told.reading == QuasiReading::Displacement {
                // No few operations contradict each other then, and no one order is right.
                (page.words, page.core, page.paths) = (Vec::new(), Core::default(), Vec::new());
            }
            page.words.extend(told.why.iter().cloned().chain(told.about_least(self.verdict())));
        }
        page
    }

    /// What a summary of many histories says about this one, with commands to type next.
    #[must_use]
    pub fn entry(&self, next: &[String]) -> Entry {
        let judged = self.judged();
        let (word, line) = match self.verdict() {
            Verdict::Holds(_) => (Word::Holds, None),
            Verdict::Violated(violation) => (Word::Violated, violation.core.last()),
            Verdict::Unknown(_) => (Word::Unknown, None),
        };
        let line = line.map(|&it| self.case.names().line(self.case.source(it)));
        Entry {
            name: self.name.clone(),
            verdict: word,
            headline: after_word(&self.headline(Paint::Plain)).to_owned(),
            told: self.evidence(),
            work: Some(self.operations() as u64),
            algorithm: self.algorithm().to_owned(),
            elapsed: self.elapsed,
            place: (judged.source == Source::File).then(|| (self.name.clone(), line)),
            next: next.to_vec(),
            page: None,
        }
    }

    /// What the verdict rests on, as text.
    fn evidence(&self) -> String {
        let mut text = String::new();
        let mut is_drawn = true;
        if let Some(told) = &self.quasi {
            is_drawn = told.reading == QuasiReading::Relaxed;
            for sentence in told.why.iter().cloned().chain(told.about_least(self.verdict())) {
                text::paragraph(&mut text, &sentence, Style::default().width);
            }
        }
        if is_drawn {
            text.push_str(&text::evidence(&self.judged(), &Style::default()));
        }
        text
    }

    /// The operations that contradict each other, as a picture that stands by itself.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::core(&self.judged(), Ground::Paper)
    }

    pub(crate) fn judged(&self) -> Judged<'_> {
        Judged {
            name: &self.name,
            source: self.source,
            spec: &self.spec,
            case: &*self.case,
            verdict: &self.judgement.verdict,
            algorithm: &self.judgement.algorithm,
            parts: self.judgement.parts,
            configurations: self.judgement.configurations,
            elapsed: self.elapsed,
            stream: self.stream,
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Style::default()))
    }
}
