//! Subjects to be run, with erased types.
//!
//! A [`SubjectFactory`] is a specification, a constructor of subjects, and a generator of calls. As
//! an [`ErasedSubject`] it has no type parameters: it takes inputs and returns histories to be
//! checked.

use std::{any::Any, fmt, io, sync::Arc, time::Duration};

use clewline_core::{
    CallSampler, Codec, CodecError, ErasedHistory, GeneratorConfig, History, Specification, Value, Values,
    erase_with_codec, erase_with_debug, read_label,
};

use crate::{
    control::{Calls, Limits},
    real::{Ending, Settings, Workers},
    subject::Subject,
    test_program::{Explorable, TestProgram, TypedProgram as TypedTrial},
};

/// The inputs of one run. The same inputs give the same calls.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The number of calls per thread.
    pub operations: usize,
    /// The mix of each thread, if not all have that of the plan; else empty.
    pub mixes: Vec<Vec<(String, u32)>>,
    /// What is drawn: the mix, the keys, the values, the seed. Numbers of operations, processes and
    /// objects are ignored.
    pub plan: GeneratorConfig,
}

/// A subject that can be run.
pub trait ErasedSubject: Send + Sync {
    /// Starts threads for it.
    ///
    /// # Errors
    ///
    /// If the system cannot create the threads.
    fn session(&self, settings: &Settings) -> io::Result<Box<dyn Session>>;

    /// The name of its specification in the catalog, if it has one.
    fn specification(&self) -> Option<String>;

    /// The same subject, for exploration.
    fn explorable(&self) -> &dyn Explorable;
}

/// Threads that run a subject repeatedly, each time a new one.
pub trait Session {
    /// Draws the calls of a run. This may be done during another run.
    fn draw(&self, inputs: &Inputs) -> DrawnCalls;

    /// Constructs a subject, and starts a run.
    fn launch(&mut self, drawn: DrawnCalls);

    /// Waits for its end. After a run that got stuck, the session cannot be used again.
    fn wait(&mut self) -> RunResult;
}

/// The calls of a run.
pub struct DrawnCalls {
    calls: Box<dyn Any + Send>,
    seed: u64,
}

impl fmt::Debug for DrawnCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drawn").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// The result of a run.
pub struct RunResult {
    /// How it ended.
    pub ending: Ending,
    /// How many operations returned.
    pub returned: usize,
    /// How long the threads worked.
    pub elapsed: Duration,
    /// Whether each thread stayed on one processor.
    pub is_pinned: bool,
    /// Merges the logs into a history with its specification. This may be done during the next run.
    pub case: Box<dyn FnOnce() -> Box<dyn ErasedHistory> + Send>,
}

impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Took")
            .field("ending", &self.ending)
            .field("returned", &self.returned)
            .finish_non_exhaustive()
    }
}

/// A specification, a constructor of subjects, and a generator of calls.
pub struct SubjectFactory<S: Specification> {
    specification: S,
    make: Make<S>,
    draw: Draw<S>,
    case: ToErasedHistory<S>,
    name: Option<String>,
    text_format: Option<TextFormat<S>>,
}

/// The text format of calls and results.
struct TextFormat<S: Specification> {
    read_call: ReadCall<S>,
    show_return: fn(&S, &Values, &S::Call, &S::Return) -> String,
}

type ReadCall<S> = fn(&S, &Values, &str, Value) -> Result<<S as Specification>::Call, CodecError>;
type Make<S> = Arc<dyn Fn() -> Arc<dyn Subject<S>> + Send + Sync>;
type ToErasedHistory<S> =
    fn(S, History<<S as Specification>::Call, <S as Specification>::Return>) -> Box<dyn ErasedHistory>;
type Draw<S> = Arc<dyn Fn(&S, &mut CallSampler) -> <S as Specification>::Call + Send + Sync>;

impl<S> SubjectFactory<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    /// The specification draws the calls.
    pub fn new<T: Subject<S>>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Self
    where
        S: Codec,
    {
        let name = Codec::name(&specification);
        SubjectFactory {
            specification,
            make: Arc::new(move || Arc::new(make())),
            draw: Arc::new(S::sample),
            case: erase_with_codec::<S>,
            name,
            text_format: Some(TextFormat {
                read_call: S::read_call,
                show_return: |specification, values, call, ret| {
                    specification.write_return(call, ret).show(values)
                },
            }),
        }
    }

    /// `draw` draws the calls.
    pub fn drawing<T: Subject<S>>(
        specification: S,
        make: impl Fn() -> T + Send + Sync + 'static,
        draw: impl Fn(&mut CallSampler) -> S::Call + Send + Sync + 'static,
    ) -> Self {
        SubjectFactory {
            specification,
            make: Arc::new(move || Arc::new(make())),
            draw: Arc::new(move |_, dice| draw(dice)),
            case: erase_with_debug::<S>,
            name: None,
            text_format: None,
        }
    }
}

impl<S: Specification> fmt::Debug for SubjectFactory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rig").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S> ErasedSubject for SubjectFactory<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn session(&self, settings: &Settings) -> io::Result<Box<dyn Session>> {
        Ok(Box::new(TypedSession {
            specification: self.specification.clone(),
            make: Arc::clone(&self.make),
            draw: Arc::clone(&self.draw),
            case: self.case,
            threads: settings.threads,
            workers: Workers::new(settings.clone())?,
        }))
    }

    fn specification(&self) -> Option<String> {
        self.name.clone()
    }

    fn explorable(&self) -> &dyn Explorable {
        self
    }
}

impl<S> Explorable for SubjectFactory<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn invocations(&self) -> Vec<String> {
        Vec::new()
    }

    fn test_program(
        &self,
        labels: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let Some(written) = &self.text_format else {
            return Err(CodecError("the specification does not say how its calls are written".to_owned()));
        };
        let mut values = Values::new();
        let calls = labels.try_map(|label| {
            let (method, argument) = read_label(label, &mut values)?;
            // Results are made without a table, and equal arguments must be equal to them.
            let argument = values.share(argument);
            (written.read_call)(&self.specification, &values, method, argument)
        })?;
        let (make, show_return) = (Arc::clone(&self.make), written.show_return);
        let (specification, case) = (self.specification.clone(), self.case);
        let judged = specification.clone();
        Ok(Box::new(TypedTrial::new(
            labels,
            calls,
            limits,
            move || make(),
            |subject: &Arc<dyn Subject<S>>, call: &S::Call| subject.call(call),
            move |call, ret| show_return(&specification, &values, call, ret),
            Some(Box::new(move |history| case(judged.clone(), history))),
        )))
    }
}

struct TypedSession<S: Specification> {
    specification: S,
    make: Make<S>,
    draw: Draw<S>,
    case: ToErasedHistory<S>,
    threads: usize,
    workers: Workers<S>,
}

impl<S> Session for TypedSession<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync + 'static,
    S::Return: Send + Sync + 'static,
{
    fn draw(&self, inputs: &Inputs) -> DrawnCalls {
        let plan = GeneratorConfig { operations: inputs.operations * self.threads, ..inputs.plan.clone() };
        let mut dice = CallSampler::new(&plan);
        let mut calls = |thread: usize| {
            if let Some(mix) = inputs.mixes.get(thread) {
                dice.set_mix(mix);
            }
            (0..inputs.operations).map(|_| (self.draw)(&self.specification, &mut dice)).collect()
        };
        let calls: Vec<Vec<S::Call>> = (0..self.threads).map(&mut calls).collect();
        DrawnCalls { calls: Box::new(calls), seed: plan.seed }
    }

    fn launch(&mut self, drawn: DrawnCalls) {
        let calls = drawn.calls.downcast::<Vec<Vec<S::Call>>>().expect("drawn by this session");
        self.workers.launch((self.make)(), *calls, drawn.seed);
    }

    fn wait(&mut self) -> RunResult {
        let run = self.workers.wait();
        let (case, specification, logs) = (self.case, self.specification.clone(), run.logs);
        RunResult {
            ending: run.ending,
            returned: logs.returned(),
            elapsed: run.elapsed,
            is_pinned: run.is_pinned,
            case: Box::new(move || case(specification, logs.merge())),
        }
    }
}
