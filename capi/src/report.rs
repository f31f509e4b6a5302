//! A report, with its texts as C reads them.

use std::{ffi::CString, sync::OnceLock};

use clewline_core::{Datum, OperationId, Value, Values, Verdict};
use clewline_methods::Report as Judged;
use clewline_report::render::{Publish, WitnessShown, html, present::first_line, text::Paint};

/// A verdict with its evidence. Texts are made when they are asked for, and stay.
pub(crate) struct Report {
    judged: Judged<'static>,
    sentence: OnceLock<CString>,
    text: OnceLock<CString>,
    json: OnceLock<CString>,
    html: OnceLock<CString>,
    counterexample: OnceLock<Vec<Operation>>,
    witness: OnceLock<Vec<Operation>>,
}

/// An operation, named.
pub(crate) struct Operation {
    /// Its number in the order of its source; none for a part of the initial state.
    pub(crate) index: Option<usize>,
    pub(crate) process: CString,
    pub(crate) object: Option<CString>,
    pub(crate) label: CString,
}

/// The verdict's number, which is that of an exit code.
pub(crate) const HOLDS: i32 = 0;
pub(crate) const VIOLATED: i32 = 1;
pub(crate) const UNKNOWN: i32 = 3;

impl Report {
    pub(crate) fn new(judged: Judged<'static>) -> Report {
        Report {
            judged,
            sentence: OnceLock::new(),
            text: OnceLock::new(),
            json: OnceLock::new(),
            html: OnceLock::new(),
            counterexample: OnceLock::new(),
            witness: OnceLock::new(),
        }
    }

    pub(crate) fn verdict(&self) -> i32 {
        match self.judged.verdict() {
            Verdict::Holds(_) => HOLDS,
            Verdict::Violated(_) => VIOLATED,
            Verdict::Unknown(_) => UNKNOWN,
        }
    }

    pub(crate) fn operations(&self) -> usize {
        self.judged.operations()
    }

    pub(crate) fn sentence(&self) -> &CString {
        self.sentence.get_or_init(|| c_text(first_line(&self.judged, Paint::Plain)))
    }

    pub(crate) fn text(&self) -> &CString {
        self.text.get_or_init(|| c_text(self.judged.to_string()))
    }

    pub(crate) fn json(&self) -> &CString {
        self.json.get_or_init(|| c_text(self.judged.json(WitnessShown::Not).to_string()))
    }

    pub(crate) fn html(&self) -> &CString {
        self.html.get_or_init(|| c_text(html::write(&self.judged.page())))
    }

    /// The operations that contradict each other; none if nothing is violated.
    pub(crate) fn counterexample(&self) -> &[Operation] {
        self.counterexample.get_or_init(|| match self.judged.verdict() {
            Verdict::Violated(violation) => self.named(&violation.counterexample),
            Verdict::Holds(_) | Verdict::Unknown(_) => Vec::new(),
        })
    }

    /// The linearization; none unless the history holds.
    pub(crate) fn witness(&self) -> &[Operation] {
        self.witness.get_or_init(|| match self.judged.verdict() {
            Verdict::Holds(witness) => self.named(&witness.order),
            Verdict::Violated(_) | Verdict::Unknown(_) => Vec::new(),
        })
    }

    fn named(&self, operations: &[OperationId]) -> Vec<Operation> {
        let case = self.judged.case();
        let (names, values) = (case.names(), case.values());
        let name = |it: OperationId| {
            let source = case.source(it);
            let line = names.line(source);
            let number = match values.get(names.id(source)) {
                Datum::Int(number) => usize::try_from(number).ok(),
                _ => line.checked_sub(1),
            };
            let process = case.process(it);
            let object = names.objects.get(case.object(it).index()).filter(|it| !it.is_absent());
            let process_name = names.processes.get(process.index());
            Operation {
                // The operations of an initial state are in no line.
                index: if line == 0 { None } else { number },
                process: c_text(process_name.map_or_else(|| process.0.to_string(), |it| plain(values, *it))),
                object: object.map(|it| c_text(plain(values, *it))),
                label: c_text(case.label(it)),
            }
        };
        operations.iter().map(|&it| name(it)).collect()
    }
}

/// A name as people write it: a text without its quotes.
fn plain(values: &Values, value: Value) -> String {
    match values.get(value) {
        Datum::Text(text) | Datum::Symbol(text) => text.to_owned(),
        _ => values.show(value).to_string(),
    }
}

/// A text for C. A zero byte would end it.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    let text = text.into();
    CString::new(text).unwrap_or_else(|it| {
        let bytes = it.into_vec().into_iter().filter(|&it| it != 0).collect::<Vec<u8>>();
        CString::new(bytes).unwrap_or_default()
    })
}
