//! Subjects to be run, with erased types.
//!
//! A [`SubjectFactory`] is a specification, a constructor of subjects, and a generator of calls. As
//! an [`ErasedSubject`] it has no type parameters: it takes inputs and returns histories to be
//! checked.

use std::{any::Any, fmt, io, sync::Arc, time::Duration};

use clewline_core::{CallSampler, Codec, ErasedHistory, GeneratorConfig, Specification};

use clewline_threads::{RunEnding, Subject, WorkerSettings, Workers};

use crate::{
    specified::{Make, SpecifiedSubject, ToErasedHistory},
    test_program::Explorable,
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
    fn session(&self, settings: &WorkerSettings) -> io::Result<Box<dyn Session>>;

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
        f.debug_struct("DrawnCalls").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// The result of a run.
pub struct RunResult {
    /// How it ended.
    pub ending: RunEnding,
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
        f.debug_struct("RunResult")
            .field("ending", &self.ending)
            .field("returned", &self.returned)
            .finish_non_exhaustive()
    }
}

/// A specification, a constructor of subjects, and a generator of calls.
pub struct SubjectFactory<S: Specification> {
    subject: SpecifiedSubject<S>,
    draw: Draw<S>,
    name: Option<String>,
}

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
        let subject = SpecifiedSubject::with_codec(specification, make);
        SubjectFactory { subject, draw: Arc::new(S::sample), name }
    }

    /// `draw` draws the calls.
    pub fn drawing<T: Subject<S>>(
        specification: S,
        make: impl Fn() -> T + Send + Sync + 'static,
        draw: impl Fn(&mut CallSampler) -> S::Call + Send + Sync + 'static,
    ) -> Self {
        let subject = SpecifiedSubject::with_debug(specification, make);
        SubjectFactory { subject, draw: Arc::new(move |_, sampler| draw(sampler)), name: None }
    }

    /// The same, with histories whose types `to_history` erases.
    #[must_use]
    pub fn erased_by(mut self, to_history: ToErasedHistory<S>) -> Self {
        self.subject.to_history = to_history;
        self
    }
}

impl<S: Specification> fmt::Debug for SubjectFactory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubjectFactory").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S> ErasedSubject for SubjectFactory<S>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn session(&self, settings: &WorkerSettings) -> io::Result<Box<dyn Session>> {
        Ok(Box::new(TypedSession {
            specification: self.subject.specification.clone(),
            make: Arc::clone(&self.subject.make),
            draw: Arc::clone(&self.draw),
            to_history: self.subject.to_history,
            threads: settings.threads,
            workers: Workers::new(settings.clone())?,
        }))
    }

    fn specification(&self) -> Option<String> {
        self.name.clone()
    }

    fn explorable(&self) -> &dyn Explorable {
        &self.subject
    }
}

struct TypedSession<S: Specification> {
    specification: S,
    make: Make<S>,
    draw: Draw<S>,
    to_history: ToErasedHistory<S>,
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
        let mut sampler = CallSampler::new(&plan);
        let mut calls = |thread: usize| {
            if let Some(mix) = inputs.mixes.get(thread) {
                sampler.set_mix(mix);
            }
            (0..inputs.operations).map(|_| (self.draw)(&self.specification, &mut sampler)).collect()
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
        let (to_history, specification, logs) = (self.to_history, self.specification.clone(), run.logs);
        RunResult {
            ending: run.ending,
            returned: logs.returned(),
            elapsed: run.elapsed,
            is_pinned: run.is_pinned,
            case: Box::new(move || to_history(specification, logs.merge())),
        }
    }
}
