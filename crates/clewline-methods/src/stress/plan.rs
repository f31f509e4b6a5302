//! A stress test under construction: its workload and its limits.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clewline_check::Algorithm;
use clewline_core::{ErasedSpec, MayFail, ValueDomain};
use clewline_matrix::ErasedSubject;
use clewline_threads::{Clock, Noise, Pinning};

use super::role::{ThreadRole, thread_names};
use crate::relaxed::QuasiRequest;

/// A stress test under construction: real threads make random calls, and each execution is checked.
#[derive(Clone)]
#[must_use = "nothing happens until `run` or `assert`"]
pub struct Stress {
    pub(crate) name: String,
    pub(crate) testable: Arc<dyn ErasedSubject>,
    // The name of its specification in reports.
    pub(crate) spec: String,
    // The specification that histories are judged by, if it is not that of the subject.
    pub(super) judged_by: Option<Arc<dyn ErasedSpec>>,
    pub(crate) workload: Workload,
    pub(crate) clock: Clock,
    pub(crate) pinning: Pinning,
    pub(crate) patience: Duration,
    pub(crate) executions: Option<u64>,
    pub(super) first: u64,
    pub(super) round: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) algorithm: Algorithm,
    // The quasi request, if it differs from the specification.
    pub(super) quasi: Option<QuasiRequest>,
    pub(super) may_fail: MayFail,
    pub(crate) jobs: usize,
    pub(crate) configurations: u64,
    pub(crate) seed: u64,
    pub(crate) progress: Arc<dyn Fn(StressProgress) + Send + Sync>,
    pub(super) origin: Origin,
    // The time limit of shrinking.
    pub(super) shrinking: Duration,
    // Where the history of a finding is saved, if it is.
    pub(super) saving: Option<PathBuf>,
    pub(super) environment: Environment,
    // The setting that does not fit the specification.
    pub(super) mistake: Option<String>,
    // Whether the threads, or a mix for all of them, were set.
    pub(super) has_plain_threads: bool,
}

/// The origin of a test, which determines how to run it again.
#[derive(Clone)]
pub(super) enum Origin {
    /// The table of subjects, with the usual workload.
    Table(Workload),
    /// A program.
    Program,
}

/// Whether environment variables count.
#[derive(Clone, Copy)]
pub(super) enum Environment {
    Heeded,
    Ignored,
}

/// The workload of each execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many threads there are; with roles, the sum of theirs.
    pub threads: usize,
    /// How many operations each calls in an execution.
    pub operations: usize,
    /// The weights of methods; those not named have weight 0. Empty: all equal.
    pub mix: Vec<(String, u32)>,
    /// What each thread calls, if not all call the same; then `mix` does not count.
    pub roles: Vec<ThreadRole>,
    /// How many keys there are, for maps.
    pub keys: usize,
    /// The domain of values; for sets, of elements.
    pub values: ValueDomain,
    /// How often threads are disturbed.
    pub noise: Noise,
}

impl Workload {
    /// Suits most structures: as many operations in an execution as a few time slices take.
    pub const PLAIN: Workload = Workload {
        threads: 4,
        operations: 2_048,
        mix: Vec::new(),
        roles: Vec::new(),
        keys: 8,
        values: ValueDomain::Distinct,
        noise: Noise::NONE,
    };

    /// The same with these roles.
    pub(super) fn with_roles(self, roles: Vec<ThreadRole>) -> Workload {
        Workload { threads: roles.iter().map(|it| it.threads).sum(), mix: Vec::new(), roles, ..self }
    }

    /// How a report calls a thread: `thread 2`, or by its role.
    pub(super) fn thread_name(&self, thread: usize) -> String {
        thread_names(&self.roles).get(thread).cloned().unwrap_or_else(|| format!("thread {thread}"))
    }
}

/// How far a stress test has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StressProgress {
    /// How many histories have been judged.
    pub executions: u64,
    /// How many operations they had.
    pub operations: u64,
    /// The current phase.
    pub phase: Phase,
}

/// The phase of a stress test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Searching for a violation.
    Looking,
    /// Shrinking the workload of a violation.
    Shrinking,
}

/// The default time limit.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

// An execution in which nothing has returned for this time is stuck.
pub(super) const DEFAULT_PATIENCE: Duration = Duration::from_secs(3);
