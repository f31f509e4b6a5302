//! An actor system that can be explored: a harness, a scenario, and the rules of their surroundings.

use std::sync::{Arc, Mutex, MutexGuard};

use clewline_core::History;

use crate::{
    engine::{Engine, Shared, lock},
    harness::{Harness, Scenario},
    histories::{Histories, HistoryEvent, HistoryId},
    model_tables::{BadScenario, CallOf, ModelTables, ReturnOf},
    numbers::Numbers,
    world::Rules,
};

/// An actor system that can be explored.
///
/// Only this type knows what actors are like. [`engine`](Self::engine) gives what explores them, in numbers; what numbers
/// mean is asked here.
#[derive(Debug)]
pub struct ActorSystem<H: Harness> {
    cast: Arc<Mutex<ModelTables<H>>>,
    histories: Arc<Mutex<Histories>>,
    rules: Rules,
}

impl<H: Harness + 'static> ActorSystem<H> {
    /// A system that is used as `scenario` says.
    ///
    /// # Errors
    ///
    /// If the scenario does not fit the system.
    pub fn new(harness: H, scenario: Scenario<CallOf<H>>, rules: Rules) -> Result<Self, BadScenario> {
        let cast = ModelTables::new(harness, scenario, rules.delivery)?;
        let histories = Arc::new(Mutex::new(Histories::new()));
        Ok(ActorSystem { cast: Arc::new(Mutex::new(cast)), histories, rules })
    }

    /// What explores it.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let cast = self.tables();
        let owners: Vec<u32> = cast.scenario().calls.iter().map(|it| it.client).collect();
        let (clients, roots) = (cast.scenario().clients, cast.roots());
        drop(cast);
        let numbers: Arc<Mutex<dyn Numbers>> = self.cast.clone();
        Engine::new(
            Shared { numbers, histories: self.histories.clone() },
            self.rules,
            clients,
            &owners,
            roots,
        )
    }

    /// What numbers mean. Nobody explores while this is held.
    pub fn tables(&self) -> MutexGuard<'_, ModelTables<H>> {
        lock(&self.cast)
    }

    /// What numbers mean, for someone who judges histories while others explore.
    #[must_use]
    pub fn shared_tables(&self) -> Arc<Mutex<ModelTables<H>>> {
        self.cast.clone()
    }

    /// The histories met so far. Nobody explores while this is held.
    pub fn histories(&self) -> MutexGuard<'_, Histories> {
        lock(&self.histories)
    }

    /// A canonical history, as a checker wants it.
    #[must_use]
    pub fn history(&self, id: HistoryId) -> History<CallOf<H>, ReturnOf<H>> {
        let events = self.histories().events(id);
        self.tables().chronicle(&events)
    }

    /// A history from its events in the order they happened.
    #[must_use]
    pub fn chronicle(&self, events: &[HistoryEvent]) -> History<CallOf<H>, ReturnOf<H>> {
        self.tables().chronicle(events)
    }
}
