//! An actor system that can be explored: a harness, a scenario, and the rules of their surroundings.

use std::sync::{Arc, Mutex, MutexGuard};

use clewline_core::History;

use crate::{
    engine::{Engine, Shared, lock},
    harness::{Harness, Scenario},
    histories::{Histories, HistoryEvent, HistoryId},
    interned::InternedModel,
    model_tables::{BadScenario, CallOf, ModelTables, ReturnOf},
    world::Rules,
};

/// An actor system that can be explored.
///
/// Only this type knows what actors are like. [`engine`](Self::engine) gives what explores them, in numbers; what numbers
/// mean is asked here.
#[derive(Debug)]
pub struct ActorSystem<H: Harness> {
    tables: Arc<Mutex<ModelTables<H>>>,
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
        let tables = ModelTables::new(harness, scenario, rules.delivery)?;
        let histories = Arc::new(Mutex::new(Histories::new()));
        Ok(ActorSystem { tables: Arc::new(Mutex::new(tables)), histories, rules })
    }

    /// What explores it.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let tables = self.tables();
        let owners: Vec<u32> = tables.scenario().calls.iter().map(|it| it.client).collect();
        let (clients, roots) = (tables.scenario().clients, tables.roots());
        drop(tables);
        let numbers: Arc<Mutex<dyn InternedModel>> = self.tables.clone();
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
        lock(&self.tables)
    }

    /// What numbers mean, for someone who judges histories while others explore.
    #[must_use]
    pub fn shared_tables(&self) -> Arc<Mutex<ModelTables<H>>> {
        self.tables.clone()
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
