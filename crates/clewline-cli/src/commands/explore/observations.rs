//! Observation files: the serial histories of a subject, saved so that phase 1 need not be
//! repeated.
//!
//! The format is the paper's (section 4.2, Figure 7). An execution that has no witness can be
//! written in the same notation.

use clewline_core::{CodecError, Datum, ObjectId, Operation, OperationId, RawCall, Recording, Value};
use clewline_formats::formats::observations::write::{
    Fate, ObservedCall, ObservedEvent, ObservedHistory, observation_set, violation as written,
};
use clewline_methods::line_up::{
    LineUpFinding, Matrix, ObservedOperation, ShownSerialHistory,
    observations::{Observations, thread_names},
};

/// The text of the file.
pub(super) fn to_xml(observations: &Observations) -> String {
    let (threads, calls) = parts(observations.matrix());
    let entry = |serial: &ShownSerialHistory| {
        let mut entry = ObservedHistory { fates: vec![Fate::NotCalled; calls.len()], events: Vec::new() };
        for (at, result) in &serial.complete {
            entry.fates[*at] = Fate::Returned(result.clone());
            entry.events.extend([ObservedEvent::Call(*at), ObservedEvent::Return(*at)]);
        }
        if let Some(at) = serial.stuck {
            entry.fates[at] = Fate::Blocked;
            entry.events.push(ObservedEvent::Call(at));
        }
        entry
    };
    let entries: Vec<ObservedHistory> = observations.histories().iter().map(entry).collect();
    observation_set(&threads, &calls, &entries)
}

/// The contents of a file that was written for this matrix.
///
/// # Errors
///
/// If it has a call that is not in the matrix, a history that is not serial, one that lacks a call
/// although no operation blocks, or no history.
pub(super) fn from_recording(recording: &Recording, matrix: &Matrix) -> Result<Observations, CodecError> {
    let (threads, calls) = parts(matrix);
    let n_objects = recording.names.objects.len();
    let mut orders: Vec<Vec<OperationId>> = vec![Vec::new(); n_objects];
    for (at, object) in recording.history.objects().iter().enumerate() {
        orders[object_index(*object)].push(OperationId::from_index(at));
    }
    let reader = ObservationReader {
        recording,
        threads: &threads,
        calls: &calls,
        alone: (matrix.initial.len(), matrix.last.len()),
    };
    let histories =
        orders.iter().map(|it| reader.serial(it)).collect::<Result<Vec<ShownSerialHistory>, CodecError>>()?;
    if histories.is_empty() {
        return Err(CodecError("the file has no history".to_owned()));
    }
    Ok(Observations::new(matrix.clone(), histories))
}

fn object_index(object: ObjectId) -> usize {
    object.0 as usize
}

/// The threads of a matrix, and its calls, split into method and argument.
fn parts(matrix: &Matrix) -> (Vec<String>, Vec<ObservedCall>) {
    let (threads, all) = (thread_names(matrix), matrix.to_calls());
    let calls = all.operations().map(|(thread, call)| {
        let (name, value) = apart(call);
        ObservedCall { thread, name: name.to_owned(), value: value.map(str::to_owned) }
    });
    (threads, calls.collect())
}

/// `push(1)` is `push` and `1`; `pop` and `pop()` are `pop` alone.
fn apart(call: &str) -> (&str, Option<&str>) {
    let call = call.trim();
    let (name, inside) = call.split_once('(').unwrap_or((call, ""));
    let argument = inside.strip_suffix(')').unwrap_or(inside).trim();
    (name.trim_end(), Some(argument).filter(|it| !it.is_empty()))
}

struct ObservationReader<'a> {
    recording: &'a Recording,
    threads: &'a [String],
    calls: &'a [ObservedCall],
    // The number of initial calls, and of final ones.
    alone: (usize, usize),
}

impl ObservationReader<'_> {
    /// Operations of one history, in the order in which they were called.
    fn serial(&self, order: &[OperationId]) -> Result<ShownSerialHistory, CodecError> {
        let mut next = vec![0; self.threads.len()];
        let mut serial = ShownSerialHistory::default();
        let mut end = 0;
        for &id in order {
            let operation = self.recording.history.operation(id);
            if serial.stuck.is_some() || operation.span.call() < end {
                return Err(CodecError("the file has a history whose operations overlap".to_owned()));
            }
            let at = self.number(&operation, &mut next)?;
            match operation.ret {
                Some(ret) => serial.complete.push((at, self.text(*ret))),
                None => serial.stuck = Some(at),
            }
            end = operation.span.ret().unwrap_or(end);
        }
        match self.missing(&serial) {
            Some(at) => Err(self.lacks(at)),
            None => Ok(serial),
        }
    }

    /// A call that is missing in the history.
    fn missing(&self, serial: &ShownSerialHistory) -> Option<usize> {
        let order = || serial.complete.iter().map(|it| it.0).chain(serial.stuck);
        // Initial and final calls have one place each: they are the first and the last calls of
        // all.
        let (first, last) = (self.alone.0, self.calls.len() - self.alone.1);
        let has_place = |it: usize| it < first || last <= it;
        let misplaced =
            order().enumerate().find(|&(at, made)| at != made && (has_place(at) || has_place(made)));
        let unmade = || (0..self.calls.len()).find(|&it| order().all(|made| made != it));
        let late = misplaced.map(|(at, made)| at.min(made));
        late.or_else(|| unmade().filter(|_| serial.stuck.is_none()))
    }

    fn lacks(&self, at: usize) -> CodecError {
        let call = &self.calls[at];
        let number = self.calls[..=at].iter().filter(|it| it.thread == call.thread).count();
        CodecError(format!(
            "the file is not of this matrix: a history there goes on or ends without call {number} of thread {}, which is {} here",
            self.threads[call.thread],
            shown(call),
        ))
    }

    /// Which call of the matrix it is: the next one of its thread.
    fn number(
        &self,
        operation: &Operation<'_, RawCall, Value>,
        next: &mut [usize],
    ) -> Result<usize, CodecError> {
        let name = self.text(self.recording.names.processes[operation.process.index()]);
        let thread = self.threads.iter().position(|it| it.eq_ignore_ascii_case(&name)).ok_or_else(|| {
            CodecError(format!(
                "the file has a thread `{name}`, and the matrix has {}",
                self.threads.join(", ")
            ))
        })?;
        let found = ObservedCall {
            thread,
            name: self.text(operation.call.method),
            value: Some(self.text(operation.call.arg)).filter(|it| !it.is_empty()),
        };
        let mine = self.calls.iter().enumerate().filter(|it| it.1.thread == thread).nth(next[thread]);
        next[thread] += 1;
        match mine {
            Some((at, call)) if *call == found => Ok(at),
            Some(_) | None => Err(CodecError(format!(
                "the file is not of this matrix: call {} of thread {name} is {} there, and {} here",
                next[thread],
                shown(&found),
                mine.map_or_else(|| "none".to_owned(), |it| shown(it.1)),
            ))),
        }
    }

    fn text(&self, value: Value) -> String {
        match self.recording.values.get(value) {
            Datum::Absent => String::new(),
            Datum::Text(text) => text.to_owned(),
            Datum::Nil => "null".to_owned(),
            Datum::Bool(_) | Datum::Int(_) | Datum::Symbol(_) | Datum::List(_) | Datum::Other(_) => {
                self.recording.values.show(value).to_string()
            }
        }
    }
}

fn shown(call: &ObservedCall) -> String {
    let value = call.value.as_ref().map_or_else(String::new, |it| format!("({it})"));
    format!("{}{value}", call.name)
}

/// An execution that has no witness, in the notation of observation files.
pub(super) fn violation(subject: &str, matrix: &Matrix, finding: &LineUpFinding) -> String {
    let (threads, calls) = parts(matrix);
    let fate = |it: &ObservedOperation| match (&it.returned, it.called) {
        (Some((_, result)), _) => Fate::Returned(result.clone()),
        (None, Some(_)) => Fate::Blocked,
        (None, None) => Fate::NotCalled,
    };
    let mut events: Vec<(u64, ObservedEvent)> = Vec::new();
    for (at, seen) in finding.operations.iter().enumerate() {
        // A call comes before its step, and a return after it.
        events.extend(seen.called.map(|it| (2 * u64::from(it), ObservedEvent::Call(at))));
        events.extend(seen.returned.as_ref().map(|it| (2 * u64::from(it.0) + 1, ObservedEvent::Return(at))));
    }
    events.sort_by_key(|it| it.0);
    let entry = ObservedHistory {
        fates: finding.operations.iter().map(fate).collect(),
        events: events.into_iter().map(|it| it.1).collect(),
    };
    written(&format!("{subject} has an execution that is {}:", finding.cause), &threads, &calls, &entry)
}

#[cfg(test)]
mod tests {
    use clewline_formats::{ReadOptions, formats};
    use clewline_matrix::Component;
    use clewline_threads::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        thread,
    };

    use clewline_methods::line_up::{LineUpOptions, observations::observe};

    use super::*;

    fn read(text: &str) -> Recording {
        let format = formats::find("observations").expect("it is in the table");
        let options = ReadOptions::default();
        format.read(&mut text.as_bytes(), &options).expect("it was just written")
    }

    /// A bag of 1 and 2, each a bit, whose `take` takes the least and blocks if there is none.
    fn bag() -> Component<AtomicU32> {
        let push = |it: &AtomicU32, value: u32| {
            it.fetch_or(value, SeqCst);
        };
        let take = |it: &AtomicU32| {
            loop {
                let values = it.load(SeqCst);
                let least = values & values.wrapping_neg();
                if least == 0 {
                    thread::yield_now();
                } else if it.compare_exchange(values, values - least, SeqCst, SeqCst).is_ok() {
                    return least;
                }
            }
        };
        Component::new(|| AtomicU32::new(0))
            .call("push(1)", move |it: &AtomicU32| push(it, 1))
            .call("push(2)", move |it: &AtomicU32| push(it, 2))
            .call("take", take)
            .call("say(\"<&>\", 1)", |_: &AtomicU32| "a \"b\" <c> & 'd'")
    }

    #[test]
    fn a_written_file_is_read_again() {
        for text in ["push(1) take | push(2) take", "take | push(1)", "take | take", "say(\"<&>\", 1) | take"]
        {
            let mut matrix: Matrix = text.parse().expect("a matrix");
            for initial in [vec![], vec!["push(2)".to_owned()]] {
                matrix.initial = initial;
                let observed = observe(&bag(), &matrix, &LineUpOptions::default()).expect("known calls");
                let xml = to_xml(&observed);
                let again = from_recording(&read(&xml), &matrix).expect("of this matrix");
                let sorted = |it: &Observations| {
                    let mut all: Vec<String> = it.histories().iter().map(|it| format!("{it:?}")).collect();
                    all.sort();
                    all
                };
                assert_eq!(sorted(&again), sorted(&observed), "{xml}");
                assert_eq!(to_xml(&again).len(), xml.len());
            }
        }
    }

    #[test]
    fn a_file_is_written_as_the_paper_does() {
        let matrix: Matrix = "push(1) | take".parse().expect("a matrix");
        let xml = to_xml(&observe(&bag(), &matrix, &LineUpOptions::default()).expect("known calls"));
        let expected = r#"<observationset>
<observation>
<thread id="a"></thread>
<thread id="b">1B</thread>
<op id="1" name="take" />
<history>1[ #</history>
</observation>
<observation>
<thread id="a">1</thread>
<thread id="b">2</thread>
<op id="1" name="push">value="1"</op>
<op id="2" name="take">result="1"</op>
<history>1[ ]1 2[ ]2</history>
</observation>
</observationset>
"#;
        assert_eq!(xml, expected);
    }

    fn parsed(text: &str) -> Matrix {
        text.parse().expect("a matrix")
    }

    #[test]
    fn a_file_of_another_matrix_is_refused() {
        let matrix: Matrix = "push(1) take | push(2)".parse().expect("a matrix");
        let xml = to_xml(&observe(&bag(), &matrix, &LineUpOptions::default()).expect("known calls"));
        for other in ["push(1) take | push(1)", "push(1) take", "push(1) | push(2)"] {
            let other: Matrix = other.parse().expect("a matrix");
            assert!(from_recording(&read(&xml), &other).is_err(), "{other}");
        }
        let refused =
            |text: &str, matrix: &str| from_recording(&read(text), &parsed(matrix)).expect_err("refused").0;
        assert_eq!(
            refused(&xml, "push(1) take | push(2) | take"),
            "the file is not of this matrix: a history there goes on or ends without call 1 of thread c, which is take here"
        );
        // Initial and final calls are not in it, even where a call blocks.
        let push = || vec!["push(2)".to_owned()];
        for text in ["push(1) take | push(2)", "take | take", "push(1)"] {
            let matrix = parsed(text);
            let xml = to_xml(&observe(&bag(), &matrix, &LineUpOptions::default()).expect("known calls"));
            let before = Matrix { initial: push(), ..matrix.clone() };
            let refused = from_recording(&read(&xml), &before).expect_err("refused");
            assert!(refused.0.contains("call 1 of thread before, which is push(2) here"), "{refused:?}");
            let after = Matrix { last: push(), ..matrix };
            let waits = text == "take | take";
            assert_eq!(from_recording(&read(&xml), &after).is_ok(), waits, "{text}");
        }
        let early = "<thread id=\"a\">1</thread><thread id=\"after\">2</thread><op id=\"1\" name=\"push\">value=\"1\"</op>\
                     <op id=\"2\" name=\"take\">result=\"1\"</op><history>2[ ]2 1[ ]1</history>";
        let after = Matrix { last: vec!["take".to_owned()], ..parsed("push(1)") };
        assert!(from_recording(&read(early), &after).is_err_and(|it| it.0.contains("push(1)")));
        for empty in ["", "<observationset></observationset>"] {
            assert_eq!(refused(empty, "take"), "the file has no history");
        }
        let overlapping = "<thread id=\"a\">1</thread><thread id=\"b\">2</thread><op id=\"1\" name=\"push\">value=\"1\"</op>\
                           <op id=\"2\" name=\"take\" /><history>1[ 2[ ]1 ]2</history>";
        // The blocked operation is the last.
        let after = "<thread id=\"a\">1B</thread><thread id=\"b\">2</thread><op id=\"1\" name=\"push\">value=\"1\"</op>\
                     <op id=\"2\" name=\"take\">result=\"1\"</op><history>1[ 2[ ]2 #</history>";
        let matrix: Matrix = "push(1) | take".parse().expect("a matrix");
        for text in [overlapping, after] {
            let refused = from_recording(&read(text), &matrix);
            assert!(refused.is_err_and(|it| it.0.contains("overlap")), "{text}");
        }
    }
}
