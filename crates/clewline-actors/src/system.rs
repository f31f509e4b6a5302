//! An actor system that can be explored: a harness, a scenario, and the rules of its environment.

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
/// Only this type has the types of the actors. [`engine`](Self::engine) returns the engine that
/// explores them by interned ids; the ids are looked up here.
#[derive(Debug)]
pub struct ActorSystem<H: Harness> {
    tables: Arc<Mutex<ModelTables<H>>>,
    histories: Arc<Mutex<Histories>>,
    rules: Rules,
}

impl<H: Harness + 'static> ActorSystem<H> {
    /// A system with the calls of `scenario`.
    ///
    /// # Errors
    ///
    /// If the scenario does not fit the system.
    pub fn new(harness: H, scenario: Scenario<CallOf<H>>, rules: Rules) -> Result<Self, BadScenario> {
        let tables = ModelTables::new(harness, scenario, rules.delivery)?;
        let histories = Arc::new(Mutex::new(Histories::new()));
        Ok(ActorSystem { tables: Arc::new(Mutex::new(tables)), histories, rules })
    }

    /// The engine that explores it.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let tables = self.tables();
        let owners: Vec<u32> = tables.scenario().calls.iter().map(|it| it.client).collect();
        let (clients, roots) = (tables.scenario().clients, tables.roots());
        drop(tables);
        let model: Arc<Mutex<dyn InternedModel>> = self.tables.clone();
        Engine::new(Shared { model, histories: self.histories.clone() }, self.rules, clients, &owners, roots)
    }

    /// The interned tables. Exploration waits while the guard is held.
    pub fn tables(&self) -> MutexGuard<'_, ModelTables<H>> {
        lock(&self.tables)
    }

    /// The interned tables, for a judge that runs during exploration.
    #[must_use]
    pub fn shared_tables(&self) -> Arc<Mutex<ModelTables<H>>> {
        self.tables.clone()
    }

    /// The histories found so far. Exploration waits while the guard is held.
    pub fn histories(&self) -> MutexGuard<'_, Histories> {
        lock(&self.histories)
    }

    /// A canonical history, as input of a checker.
    #[must_use]
    pub fn history(&self, id: HistoryId) -> History<CallOf<H>, ReturnOf<H>> {
        let events = self.histories().events(id);
        self.tables().chronicle(&events)
    }

    /// A history from its events in chronological order.
    #[must_use]
    pub fn chronicle(&self, events: &[HistoryEvent]) -> History<CallOf<H>, ReturnOf<H>> {
        self.tables().chronicle(events)
    }
}
