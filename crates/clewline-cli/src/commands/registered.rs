//! A subject that is not in the table: a program that was started to be explored.

use std::{fmt, sync::Arc};

use clewline_matrix::Explorable;
use clewline_methods::line_up::{Checked, LineUpOptions};

/// A subject that describes itself.
pub(super) struct Registered<'p> {
    /// Its name, in reports.
    pub(super) name: String,
    /// The subject.
    pub(super) explorable: Arc<dyn Explorable>,
    /// The command that explores it. Called at the end of the exploration.
    pub(super) command: Box<dyn Fn() -> String>,
    /// Whether the program has ended: then the last execution is invalid.
    pub(super) is_lost: Box<dyn Fn() -> bool>,
    /// What was not seen of it so far.
    pub(super) unseen: Box<dyn Fn() -> NotSeen>,
    /// Whether it is a whole program: then every result is correct, provided that it terminates.
    pub(super) is_body: bool,
    /// Its number among the programs that the command explores, if there may be several: then the
    /// command writes the files about all of them.
    pub(super) number: Option<usize>,
    /// Its matrices, if the arguments name none.
    pub(super) matrices: Vec<String>,
    /// The specification, if the arguments name none.
    pub(super) spec: Option<String>,
    /// The quasi factors, if the arguments name none.
    pub(super) quasi: Option<String>,
    /// The results that calls may return with no effect, if the arguments name none.
    pub(super) may_fail: Option<String>,
    /// Which operations one thread calls: `producer: enq`.
    pub(super) roles: Vec<String>,
    /// The flag with the scheduling points that were found so far, for a replay; empty if there are
    /// none.
    pub(super) racing_flag: Box<dyn Fn() -> String>,
    /// The scheduling points that were found so far, as the journal keeps them.
    pub(super) racing: Box<dyn Fn() -> String>,
    /// Whether a violation is one without what earlier executions may have left behind.
    pub(super) is_confirmed: IsConfirmed<'p>,
}

/// Whether a violation that was found with these options is one by itself.
pub(super) type IsConfirmed<'p> = Box<dyn Fn(&Checked, &LineUpOptions) -> bool + 'p>;

/// What was not seen of a subject and is not trusted.
#[derive(Clone, Debug, Default)]
pub(super) struct NotSeen {
    /// One sentence for each piece of code, without a final dot.
    pub(super) sentences: Vec<String>,
    /// Why executions without a violation show nothing at all, if so.
    pub(super) nothing: Option<&'static str>,
    /// What may have ordered accesses, which matters under a weak memory model.
    pub(super) orders: Vec<String>,
}

/// Some of the sentences, in one.
fn shown(sentences: &[String]) -> String {
    const SENTENCES_SHOWN_MAX: usize = 3;
    let shown = sentences.iter().take(SENTENCES_SHOWN_MAX).cloned().collect::<Vec<_>>().join("; ");
    let rest = sentences.len().saturating_sub(SENTENCES_SHOWN_MAX);
    if rest == 0 { shown } else { format!("{shown}; and {rest} more") }
}

impl NotSeen {
    /// Why a violation under a weak memory model may be none, if something was not seen.
    pub(super) fn doubt(&self) -> Option<String> {
        let doubt = format!(
            "an execution is wrong, but some of the code that ran was not seen, and may order what the memory model leaves \
             open: {}. If it orders nothing, name it with --trust; --memory-model sc needs no order",
            shown(&self.orders)
        );
        (!self.orders.is_empty()).then_some(doubt)
    }

    /// Why nothing is known of executions without a violation, if something was not seen.
    pub(super) fn reason(&self) -> Option<String> {
        let reason = format!(
            "some of the code that ran was not seen, so schedules were left out: {}. If it shares nothing, or is right, name it \
             with --trust",
            shown(&self.sentences)
        );
        (!self.sentences.is_empty()).then_some(reason)
    }
}

impl fmt::Debug for Registered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("name", &self.name).finish_non_exhaustive()
    }
}
