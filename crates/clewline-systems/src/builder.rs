//! The builder: a user-defined actor system, explored in a test.

use std::{fmt, time::Duration};

use clewline_actors::{
    ActorId, CallOf, ClientCall, Clients, Delivery, Faults, Harness, Mailbox, Restart, Scenario, Token,
    schedulers::{self, ActorScheduler, delay_bounded::DELAYS},
};
use clewline_core::{Verdict, name_of_type};
use clewline_explore::{Bound, schedulers::pct::DEPTH};
use clewline_methods::{
    available_memory,
    environment::{Variables, set_bounds, this_test},
};
use clewline_report::{
    Regressions,
    render::{present, text},
};

use crate::{
    options::{ExploreOptions, ExploreProgress, StopCondition, StuckCalls},
    outcome::{ExploreError, ExploreOutcome},
    present::PresentedExploration,
    run,
    staged::{OperationFormat, StagedScenario},
    text::ExploreContext,
};

/// A test under construction: every order of messages in an actor system, and whether clients can
/// distinguish it from one object.
///
/// ```
/// use clewline::actors::{Actor, ActorId, AnyActor, Context, Explore, Harness};
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// enum Message {
///     Add,
///     Get,
///     Done(i64),
/// }
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
/// struct Counter(i64);
///
/// impl Actor for Counter {
///     type Message = Message;
///
///     fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
///         match message {
///             Message::Add => self.0 += 1,
///             Message::Get => (),
///             Message::Done(_) => unreachable!("only clients receive it"),
///         }
///         context.send(from, Message::Done(self.0));
///     }
/// }
///
/// struct OneCounter;
///
/// # #[derive(Clone, Debug)]
/// # struct Sum;
/// # #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// # enum Call { Add, Get }
/// # impl clewline::Deterministic for Sum {
/// #     type State = i64;
/// #     type Call = Call;
/// #     type Return = i64;
/// #     fn initial(&self) -> i64 { 0 }
/// #     fn apply(&self, sum: &mut i64, call: &Call) -> Option<i64> {
/// #         *sum += i64::from(*call == Call::Add);
/// #         Some(*sum)
/// #     }
/// # }
/// impl Harness for OneCounter {
///     type Message = Message;
///     type Specification = Sum; // `add` and `get` return the sum.
///
///     fn specification(&self) -> Sum {
///         Sum
///     }
///
///     fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
///         vec![Box::new(Counter::default())]
///     }
///
///     fn request(&self, call: &Call, _n: u32) -> Message {
///         match call {
///             Call::Add => Message::Add,
///             Call::Get => Message::Get,
///         }
///     }
///
///     fn response(&self, message: &Message) -> Option<i64> {
///         match message {
///             Message::Done(sum) => Some(*sum),
///             Message::Add | Message::Get => None,
///         }
///     }
/// }
///
/// Explore::new(OneCounter).client([(0, Call::Add), (0, Call::Get)]).client([(0, Call::Add)]).assert();
/// ```
#[must_use = "nothing happens until `assert` or `run`"]
pub struct Explore<H: Harness> {
    harness: H,
    scenario: Scenario<CallOf<H>>,
    // What reports call the system and its specification, and how they write operations.
    name: String,
    spec: String,
    format: OperationFormat<H::Specification>,
    options: ExploreOptions,
    replay: Option<String>,
    mistake: Option<String>,
}

impl<H: Harness> fmt::Debug for Explore<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explore")
            .field("calls", &self.scenario.calls)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<H: Harness + 'static> Explore<H> {
    /// Explores the system that `harness` describes. [`client`](Self::client) adds the calls.
    pub fn new(harness: H) -> Self {
        Explore {
            harness,
            scenario: Scenario { calls: Vec::new(), clients: Clients::Tight },
            name: name_of_type::<H>().to_owned(),
            spec: name_of_type::<H::Specification>().to_owned(),
            format: OperationFormat::shown(),
            options: ExploreOptions { memory: available_memory(), ..ExploreOptions::default() },
            replay: None,
            mistake: None,
        }
    }

    /// The same with these calls, and so called by reports.
    #[cfg(feature = "files")]
    pub(super) fn described(
        self,
        name: &str,
        spec: String,
        scenario: Scenario<CallOf<H>>,
        format: OperationFormat<H::Specification>,
    ) -> Self {
        Explore { name: name.to_owned(), spec, scenario, format, ..self }
    }

    /// Adds a client that makes these calls to these actors, one after the other. Actors are
    /// numbered from 0.
    pub fn client(mut self, calls: impl IntoIterator<Item = (u32, CallOf<H>)>) -> Self {
        let client = self.scenario.calls.iter().map(|it| it.client + 1).max().unwrap_or(0);
        for (to, call) in calls {
            if ActorId::ROOTS_MAX <= to {
                self.record_mistake(format!("client {}: there is no actor {to}", client + 1));
                continue;
            }
            self.scenario.calls.push(ClientCall { client, to: ActorId::new(to), call });
        }
        self
    }

    /// How clients go about their calls.
    pub fn clients(mut self, clients: Clients) -> Self {
        self.scenario.clients = clients;
        self
    }

    /// In which order messages arrive.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.options.rules.delivery = delivery;
        self
    }

    /// Sets how many messages may be lost in one execution.
    pub fn lose(self, messages: u8) -> Self {
        self.change_faults(|it| it.lose = messages)
    }

    /// Sets how many messages may be duplicated in one execution.
    pub fn duplicate(self, messages: u8) -> Self {
        self.change_faults(|it| it.duplicate = messages)
    }

    /// Sets how many crashes may occur in one execution, whether crashed actors restart, and
    /// whether their mailbox survives.
    pub fn crash(self, crashes: u8, restart: Restart, mailbox: Mailbox) -> Self {
        self.change_faults(|it| (it.crash, it.restart, it.mailbox) = (crashes, restart, mailbox))
    }

    /// Sets how many partitions may occur in one execution, one after the other.
    pub fn partition(self, partitions: u8) -> Self {
        self.change_faults(|it| it.partition = partitions)
    }

    /// Sets the scheduler: [`States`](ActorScheduler::States), which is the default and visits
    /// every state once, or another one. `parse` reads it from its name.
    pub fn scheduler(mut self, scheduler: ActorScheduler) -> Self {
        self.options.scheduler = scheduler;
        self
    }

    /// Sets a bound of a scheduler. The environment variable of its name, such as
    /// `CLEWLINE_DELAYS`, takes precedence. Schedulers without that bound ignore it.
    pub fn bound(mut self, bound: Bound, value: impl Into<Option<u32>>) -> Self {
        if let Err(mistake) = self.options.bounds.change(&bound, value.into()) {
            self.record_mistake(mistake);
        }
        self
    }

    /// Sets the number of delays of the delay-bounded scheduler.
    pub fn delays(self, delays: u32) -> Self {
        self.bound(DELAYS, delays)
    }

    /// Sets the bug depth `d` of PCT: there are `d - 1` priority change points.
    pub fn depth(self, depth: u32) -> Self {
        self.bound(DEPTH, depth)
    }

    /// Sets the random seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Sets the maximum number of executions. Random schedulers make exactly this number.
    pub fn executions(mut self, executions: u64) -> Self {
        self.options.executions = executions;
        self
    }

    /// Sets the maximum number of states. If there are more, the verdict is unknown.
    pub fn states(mut self, states: u64) -> Self {
        self.options.states = states;
        self
    }

    /// Sets the time limit. If it is reached, the verdict is unknown.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the memory limit of the process, in bytes. If it is reached, the verdict is unknown. By
    /// default, most of the memory that is available.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.options.memory = Some(bytes);
        self
    }

    /// Sets the number of threads.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.options.jobs = jobs.max(1);
        self
    }

    /// Sets whether a call that never returns, although no further step is possible, is a
    /// violation: it is not, by default.
    pub fn stuck(mut self, stuck: StuckCalls) -> Self {
        self.options.stuck = stuck;
        self
    }

    /// Executes only the schedule of this token, which a report shows.
    pub fn replay(mut self, token: &str) -> Self {
        self.replay = Some(token.to_owned());
        self
    }

    /// Stops at the first violation.
    pub fn stop_at_first(mut self) -> Self {
        self.options.wanted = StopCondition::First;
        self
    }

    /// Explores.
    ///
    /// # Errors
    ///
    /// If the calls do not fit the system, a handler is not pure, or a setting is invalid.
    pub fn run(self) -> Result<ExploreOutcome, ExploreError> {
        self.run_after(&Regressions::of_test(None, ""))
    }

    /// The same, unless a kept failure still fails.
    fn run_after(self, kept: &Regressions) -> Result<ExploreOutcome, ExploreError> {
        let Explore { harness, scenario, format, mut options, replay, mistake, .. } = self;
        if let Some(mistake) = mistake {
            return Err(ExploreError::Other(mistake));
        }
        apply(&mut options, |name| std::env::var(name).ok())
            .map_err(|it| ExploreError::Other(it.to_string()))?;
        if scenario.calls.is_empty() && harness.properties().is_empty() {
            return Err(ExploreError::Other(
                "there are no calls, and no properties: there is nothing to judge".to_owned(),
            ));
        }
        let play = StagedScenario::boxed(harness, scenario, format);
        let known = kept.replay(|it| {
            let (faults, token) = it.split_once(' ').ok_or("no faults")?;
            let faults: Vec<u8> = faults.split(',').map_while(|it| it.parse().ok()).collect();
            let [lose, duplicate, crash, partition] = faults[..] else { return Err("no faults".to_owned()) };
            let token = token.parse::<Token>().map_err(|it| it.to_string())?;
            let mut once = options.clone();
            once.rules.faults = Faults { lose, duplicate, crash, partition, ..once.rules.faults };
            let outcome = run::replay(&*play, &once, &token).map_err(|it| it.to_string())?;
            Ok(Some(outcome).filter(|it| it.finding().is_some()))
        });
        if let Some(outcome) = known {
            return Ok(outcome);
        }
        match replay {
            None => run::run(&*play, &options, &ExploreProgress::default()),
            Some(token) => {
                let token: Token =
                    token.parse().map_err(|it| ExploreError::Other(format!("replay: {it}")))?;
                run::replay(&*play, &options, &token)
            }
        }
    }

    /// Explores, and panics with a report unless the verdict is *holds*.
    ///
    /// # Panics
    ///
    /// If there is a violation, or the verdict is unknown.
    #[track_caller]
    pub fn assert(self) {
        let (scheduler, is_replay) = (self.options.scheduler, self.replay.is_some());
        let (name, spec) = (self.name.clone(), self.spec.clone());
        let kept = Regressions::of_test(this_test().as_deref().filter(|_| !is_replay), &name);
        let outcome = match self.run_after(&kept) {
            Ok(outcome) => outcome,
            Err(error) => panic!("{name}: {error}"),
        };
        kept.keep(outcome.finding().filter(|it| !it.steps.is_empty()).map(|it| {
            let Faults { lose, duplicate, crash, partition, .. } = it.faults;
            format!("{lose},{duplicate},{crash},{partition} {}", it.token)
        }));
        let next: Vec<String> = match outcome.finding() {
            Some(it) if !is_replay && !it.steps.is_empty() => {
                vec![format!("add .replay(\"{}\") before .assert() to see nothing but this", it.token)]
            }
            Some(_) | None => Vec::new(),
        };
        let context =
            ExploreContext { system: &name, harness: "", spec: &spec, scheduler, is_replay, next: &next };
        match outcome.verdict {
            Verdict::Holds(()) => (),
            Verdict::Violated(_) | Verdict::Unknown(_) => {
                panic!(
                    "{}",
                    present::text(
                        &PresentedExploration { context, outcome: &outcome },
                        &text::Style::default()
                    )
                )
            }
        }
    }

    fn change_faults(mut self, change: impl FnOnce(&mut Faults)) -> Self {
        change(&mut self.options.rules.faults);
        self
    }

    fn record_mistake(&mut self, mistake: String) {
        self.mistake.get_or_insert(mistake);
    }
}

/// Overrides the settings by the variables that `look_up` finds.
fn apply(
    options: &mut ExploreOptions,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<(), clewline_methods::Error> {
    let Variables { seed, executions, timeout, jobs } = Variables::read(&look_up)?;
    options.seed = seed.unwrap_or(options.seed);
    options.executions = executions.unwrap_or(options.executions);
    options.timeout = timeout.or(options.timeout);
    options.jobs = jobs.unwrap_or(options.jobs);
    set_bounds(&mut options.bounds, &schedulers::bounds(), look_up)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            finding::ViolationKind,
            two_copies::{Servers, calls_of},
        },
        *,
    };

    #[test]
    fn every_bound_of_a_scheduler_is_set_by_the_builder_and_by_its_variable() {
        for bound in schedulers::bounds() {
            let mut explore = Explore::new(Servers).bound(*bound, 17);
            assert_eq!(
                (explore.options.bounds.get(bound), explore.mistake),
                (Some(17), None),
                "{}",
                bound.name
            );
            let variable = bound.variable();
            let mut set = |value: &str| {
                let look_up = |name: &str| (name == variable).then(|| value.to_owned());
                apply(&mut explore.options, look_up)?;
                Ok::<_, clewline_methods::Error>(explore.options.bounds.get(bound))
            };
            assert_eq!(set("18").expect("a number"), Some(18), "{variable}");
            assert_eq!(set("").expect("nothing is set"), Some(18), "{variable}");
            assert!(set("many").is_err_and(|it| it.to_string().contains(&variable)));
        }
        let calls = calls_of(1, 1).into_iter().map(|it| (it.to.index(), it.call));
        let error = Explore::new(Servers).client(calls).bound(DEPTH, None).run().expect_err("no bound");
        assert_eq!(error.to_string(), "the bound `depth` cannot be lifted");
    }

    #[test]
    fn variables_take_precedence_over_the_program() {
        let set = |variables: &[(&str, &str)]| {
            let mut options = ExploreOptions { seed: 1, executions: 2, ..ExploreOptions::default() };
            let look_up =
                |name: &str| variables.iter().find(|it| it.0 == name).map(|(_, value)| (*value).to_owned());
            apply(&mut options, look_up).map_err(|it| it.to_string())?;
            Ok::<_, String>((options.seed, options.executions, options.timeout, options.jobs))
        };
        assert_eq!(set(&[]), Ok((1, 2, None, 1)));
        let all = [
            ("CLEWLINE_SEED", "3"),
            ("CLEWLINE_EXECUTIONS", "4"),
            ("CLEWLINE_TIMEOUT", "2m"),
            ("CLEWLINE_JOBS", "5"),
        ];
        assert_eq!(set(&all), Ok((3, 4, Some(Duration::from_secs(120)), 5)));
        for (name, _) in all {
            assert!(set(&[(name, "many")]).is_err_and(|it| it.contains(name)), "{name}");
        }
    }

    #[test]
    fn a_call_that_never_returns_is_a_violation_on_request() {
        let write = || calls_of(1, 0).into_iter().map(|it| (it.to.index(), it.call));
        let explore = || Explore::new(Servers).client(write()).lose(1);
        assert!(explore().run().expect("it runs").finding().is_none());
        let outcome = explore().stuck(StuckCalls::Forbid).run().expect("it runs");
        let finding = outcome.finding().expect("the request may be lost");
        assert!(matches!(finding.why, ViolationKind::Stuck));
    }

    #[test]
    fn an_exploration_stops_at_the_first_violation_on_request() {
        let explore = || {
            let each = calls_of(2, 2).into_iter().map(|it| (it.to.index(), it.call));
            each.fold(Explore::new(Servers), |it, call| it.client([call]))
                .scheduler(ActorScheduler::EXHAUSTIVE)
        };
        let schedules = |it: Explore<Servers>| {
            let outcome = it.run().expect("it runs");
            assert!(outcome.finding().is_some());
            outcome.metrics.schedules.expect("schedules are counted")
        };
        assert!(schedules(explore().stop_at_first()) < schedules(explore()));
    }

    #[test]
    fn a_kept_failure_is_replayed_first() {
        let path = std::env::temp_dir().join(format!("clewline-kept-{}.txt", std::process::id()));
        let kept = Regressions::in_file(path.clone());
        let calls = || calls_of(1, 1).into_iter().map(|it| (it.to.index(), it.call));
        let explore = || Explore::new(Servers).client(calls());
        let found = explore().run().expect("it runs");
        let token = found.finding().expect("two copies are not one").token.to_string();
        std::fs::write(&path, format!("0,0,0,0 {token}\n1,0,0,0 9,9:{token}\nno token\n")).unwrap();
        let replayed = explore().run_after(&kept).expect("it runs");
        assert_eq!(replayed.metrics.schedules, Some(1));
        assert_eq!(replayed.finding().map(|it| it.token.to_string()), Some(token));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("# dropped: ").count(), 2, "{text}");
        std::fs::remove_file(path).unwrap();
    }
}
