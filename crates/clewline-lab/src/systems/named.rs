//! Built-in systems, with the calls of a shape such as `2r+1w` or of a file.

use clewline_actors::{ClientCall, Harness, Ignored, Scenario};
use clewline_core::Codec;
use clewline_systems::{ErasedHarness, ExploreError, ExploreOptions, HarnessFile, HarnessFileError};

use super::{
    shape::{ReadsAndWrites, Shape},
    system::{Calls, FoundSystem, NamedSystem, SystemVisitor, Usage, Variant},
};
use crate::ds2::AsPublished;

impl NamedSystem {
    /// `found` with the calls of `shape`, and its default number of actors.
    #[must_use]
    pub fn new(found: FoundSystem, shape: Shape) -> NamedSystem {
        let Variant { actors, clients, .. } = *found.variant;
        NamedSystem { found, calls: Calls::Shape(shape), actors, clients }
    }

    /// `found` with its default calls.
    ///
    /// # Errors
    ///
    /// If the calls of its entry are neither a shape nor a list of calls.
    pub fn usual(found: FoundSystem) -> Result<NamedSystem, HarnessFileError> {
        let calls = found.variant.calls;
        calls.parse().map_or_else(
            |_| NamedSystem::from_file(found, &calls.replace(';', "\n")),
            |it| Ok(NamedSystem::new(found, it)),
        )
    }

    /// `found` with the calls of the text of a file.
    ///
    /// # Errors
    ///
    /// If the text is no such file.
    pub fn from_file(found: FoundSystem, text: &str) -> Result<NamedSystem, HarnessFileError> {
        let program = HarnessFile::read(text)?;
        let at_line = |line, message| HarnessFileError { line, column: 1, message };
        if !program.has_calls() {
            let last = text.lines().count().max(1);
            return Err(at_line(
                last,
                "expected a call as in `C1 N2 write(1)`, found no call at all".to_owned(),
            ));
        }
        if let Some(name) = program.specification()
            && let Err(error) = clewline_specs::find(name)
        {
            return Err(program.bad_specification(error.to_string()));
        }
        let actors = program.actors.map_or(found.variant.actors, |it| it.0);
        let line = program.actors.map_or(1, |it| it.1);
        let clients = program.clients.unwrap_or(found.variant.clients);
        let named = NamedSystem { found, calls: Calls::File(Box::new(program)), actors, clients };
        named.check_actors().map_err(|it| at_line(line, it.to_string()))?;
        Ok(named)
    }

    /// Sets the number of actors.
    ///
    /// # Errors
    ///
    /// If the system does not support this number.
    pub fn with_actors(self, actors: u32) -> Result<NamedSystem, ExploreError> {
        let named = NamedSystem { actors, ..self };
        named.check_actors()?;
        Ok(named)
    }

    /// What it should do: the specification that its file names, or that of the system.
    #[must_use]
    pub fn spec(&self) -> &str {
        match &self.calls {
            Calls::File(file) => file.specification().unwrap_or(self.found.system.spec),
            Calls::Shape(_) => self.found.system.spec,
        }
    }

    /// What happens to messages that their receiver ignores.
    #[must_use]
    pub fn ignored(&self) -> Ignored {
        self.found.variant.ignored
    }

    fn check_actors(&self) -> Result<(), ExploreError> {
        let (least, most) = self.found.variant.range;
        if (least..=most).contains(&self.actors) {
            return Ok(());
        }
        let (name, actors) = (self.found.name(), self.actors);
        Err(ExploreError::Other(format!("{name} has from {least} to {most} actors, found {actors}")))
    }

    /// The system with its calls; DS2's rules need the writes first and its keys, as its harnesses
    /// have them.
    ///
    /// # Errors
    ///
    /// If the calls do not fit it.
    pub fn harness(&self, options: &ExploreOptions) -> Result<ErasedHarness, ExploreError> {
        self.check_actors()?;
        let is_as_published = options.scheduler.unsound().is_some();
        (self.found.system.harness)(
            self.found.variant.name,
            self.actors,
            Usage { named: self, is_as_published },
        )
    }
}

impl Usage<'_> {
    /// The calls, made on `harness`.
    ///
    /// # Errors
    ///
    /// If they do not fit it.
    pub fn of<H: Harness<Specification: Codec> + 'static>(
        self,
        harness: H,
    ) -> Result<ErasedHarness, ExploreError> {
        let has_properties = !harness.properties().is_empty();
        let (scenario, is_as_published) = self.scenario(&harness.specification(), has_properties)?;
        Ok(match is_as_published {
            true => ErasedHarness::new(AsPublished(harness), scenario),
            false => ErasedHarness::new(harness, scenario),
        })
    }

    /// The calls, and whether DS2's keys are used. Generic in the specification alone, of which
    /// there are fewer than harnesses.
    fn scenario<S: Codec>(
        self,
        specification: &S,
        has_properties: bool,
    ) -> Result<(Scenario<S::Call>, bool), ExploreError> {
        let NamedSystem { found, calls, actors, clients } = self.named;
        let words = ReadsAndWrites::of(found.system.shapes, specification);
        let mut scenario = match (calls, words) {
            (Calls::Shape(Shape::Nothing), _) => Scenario { calls: Vec::new(), clients: *clients },
            (Calls::Shape(shape), Some(words)) => shape
                .scenario(specification, words, *actors, *clients)
                .map_err(|it| ExploreError::Other(format!("{}: {it}", found.name())))?,
            (Calls::Shape(shape), None) => return Err(no_shapes(found, *shape)),
            (Calls::File(program), _) => {
                let calls = program.calls(specification, found.system.offers, *actors);
                Scenario { calls: calls.map_err(ExploreError::Harness)?, clients: *clients }
            }
        };
        if scenario.calls.is_empty() && !has_properties {
            return Err(ExploreError::Other(
                "there are no calls, and no properties: there is nothing to judge".to_owned(),
            ));
        }
        let Some(words) = words else { return Ok((scenario, false)) };
        let is_read = |it: &ClientCall<_>| words.is_read(specification.write_call(&it.call).0);
        if !scenario.calls.is_empty() && !scenario.calls.iter().any(is_read) {
            return Err(ExploreError::Other(
                "the harness has no reads: without one the effect of the writes is never observed (try `2r+1w`)"
                    .to_owned(),
            ));
        }
        if self.is_as_published {
            let (reads, mut calls): (Vec<_>, Vec<_>) = scenario.calls.into_iter().partition(is_read);
            calls.extend(reads);
            (0..).zip(&mut calls).for_each(|(at, it)| it.client = at);
            scenario.calls = calls;
        }
        Ok((scenario, self.is_as_published))
    }
}

impl SystemVisitor for Usage<'_> {
    type Output = Result<ErasedHarness, ExploreError>;

    fn file(&self) -> Option<&HarnessFile> {
        match &self.named.calls {
            Calls::File(file) => Some(file),
            Calls::Shape(_) => None,
        }
    }

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Self::Output {
        self.of(harness)
    }
}

fn no_shapes(found: &FoundSystem, shape: Shape) -> ExploreError {
    let offers = found.system.offers;
    ExploreError::Other(format!(
        "`{shape}` says nothing about what is not read and written; write calls ({}) into a file, a line such as \
         `C1 N1 {}` for each",
        offers.join(", "),
        offers.first().unwrap_or(&"CALL")
    ))
}
