//! Subjects with a specification, to be explored.

use std::{fmt, sync::Arc};

use clewline_core::{
    Codec, CodecError, ErasedHistory, History, NotFound, Specification, Value, Values, erase_with_codec,
    erase_with_debug, read_label, write_label,
};

use clewline_threads::{
    Subject,
    control::{Calls, Limits},
};

use crate::test_program::{Explorable, TestProgram, TypedProgram, shown};

/// A specification, and a constructor of subjects.
///
/// A matrix names a call by its *label*. A specification with a [`Codec`] reads labels; of any
/// other specification, calls are values that are given beforehand, each with its label.
pub struct SpecifiedSubject<S: Specification> {
    pub(crate) specification: S,
    pub(crate) make: Make<S>,
    pub(crate) to_history: ToErasedHistory<S>,
    text_format: Option<TextFormat<S>>,
    calls: Vec<(String, S::Call)>,
}

/// How calls and results are written.
struct TextFormat<S: Specification> {
    read_call: ReadCall<S>,
    write_call: fn(&S, &Values, &S::Call) -> String,
    write_return: fn(&S, &Values, &S::Call, &S::Return) -> String,
}

type ReadCall<S> = fn(&S, &Values, &str, Value) -> Result<<S as Specification>::Call, CodecError>;
pub(crate) type Make<S> = Arc<dyn Fn() -> Arc<dyn Subject<S>> + Send + Sync>;
/// Erases the types of a history with its specification.
pub type ToErasedHistory<S> =
    fn(S, History<<S as Specification>::Call, <S as Specification>::Return>) -> Box<dyn ErasedHistory>;

impl<S> SpecifiedSubject<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    /// Calls and results are written as the specification's codec writes them.
    pub fn with_codec<T: Subject<S>>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Self
    where
        S: Codec,
    {
        let text_format = TextFormat {
            read_call: S::read_call,
            write_call: |specification, values, call| {
                let (method, argument) = specification.write_call(call);
                write_label(method, &argument, values)
            },
            write_return: |specification, values, call, ret| {
                specification.write_return(call, ret).show(values)
            },
        };
        SpecifiedSubject {
            specification,
            make: Arc::new(move || Arc::new(make())),
            to_history: erase_with_codec::<S>,
            text_format: Some(text_format),
            calls: Vec::new(),
        }
    }

    /// Calls and results are written as `Debug` writes them.
    pub fn with_debug<T: Subject<S>>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        SpecifiedSubject {
            specification,
            make: Arc::new(move || Arc::new(make())),
            to_history: erase_with_debug::<S>,
            text_format: None,
            calls: Vec::new(),
        }
    }

    /// The text of a call.
    pub fn show_call(&self, call: &S::Call) -> String {
        match &self.text_format {
            Some(text_format) => (text_format.write_call)(&self.specification, &Values::new(), call),
            None => format!("{call:?}"),
        }
    }

    /// The calls that were given as values, with their labels.
    #[must_use]
    pub fn calls(&self) -> &[(String, S::Call)] {
        &self.calls
    }

    /// Adds a call, which matrices name by `label`.
    pub fn add_call(&mut self, label: String, call: S::Call) {
        self.calls.push((label, call));
    }

    fn find(&self, label: &str, values: &mut Values) -> Result<S::Call, CodecError> {
        if let Some((_, call)) = self.calls.iter().find(|it| it.0 == label) {
            return Ok(call.clone());
        }
        let Some(text_format) = &self.text_format else {
            let labels = self.calls.iter().map(|it| it.0.as_str());
            return Err(NotFound::new("operation", label, labels).into());
        };
        let (method, argument) = read_label(label, values)?;
        // Results are made without a table, and equal arguments must be equal to them.
        let argument = values.share(argument);
        (text_format.read_call)(&self.specification, values, method, argument)
    }
}

impl<S: Specification> fmt::Debug for SpecifiedSubject<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpecifiedSubject").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl<S> Explorable for SpecifiedSubject<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn invocations(&self) -> Vec<String> {
        self.calls.iter().map(|it| it.0.clone()).collect()
    }

    fn test_program(
        &self,
        labels: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let mut values = Values::new();
        let calls = labels.try_map(|label| self.find(label, &mut values))?;
        let make = Arc::clone(&self.make);
        let (specification, to_history) = (self.specification.clone(), self.to_history);
        let judged = specification.clone();
        let write_return = self.text_format.as_ref().map(|it| it.write_return);
        Ok(Box::new(TypedProgram::new(
            labels,
            calls,
            limits,
            move || make(),
            |subject: &Arc<dyn Subject<S>>, call: &S::Call| subject.call(call),
            move |call, ret| match write_return {
                Some(write) => write(&specification, &values, call, ret),
                None => shown(ret),
            },
            Some(Box::new(move |history| to_history(judged.clone(), history))),
        )))
    }
}
