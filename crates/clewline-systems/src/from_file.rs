//! Systems that a harness file describes, explored in a test.

use std::{fs, path::Path};

use clewline_actors::{AnyActor, FileHarness, FileMessage, HarnessFile, Scenario};
use clewline_core::AnySpecification;

use crate::{builder::Explore, outcome::ExploreError, staged::OperationFormat};

impl<M: FileMessage> Explore<FileHarness<M, AnySpecification>> {
    /// Explores the system of these actors as the harness file at `path` says: its specification,
    /// its calls, and which messages are requests and responses.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no harness file, or does not fit the actors.
    pub fn from_file(
        path: impl AsRef<Path>,
        actors: Vec<Box<dyn AnyActor<M>>>,
    ) -> Result<Self, ExploreError> {
        let path = path.as_ref();
        let at_path = |error: String| ExploreError::Other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|it| at_path(it.to_string()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Explore::from_text(&name, &text, actors).map_err(|it| at_path(it.to_string()))
    }

    /// The same, with the text of a harness file; reports call the system `name`.
    ///
    /// # Errors
    ///
    /// If the text is no harness file, or does not fit the actors.
    pub fn from_text(
        name: &str,
        text: &str,
        actors: Vec<Box<dyn AnyActor<M>>>,
    ) -> Result<Self, ExploreError> {
        let file = HarnessFile::read(text).map_err(ExploreError::Harness)?;
        let spec = file.specification().ok_or_else(|| {
            ExploreError::Harness(
                file.bad_specification("expected a line such as `spec register`, found none"),
            )
        })?;
        let specification = clewline_specs::find(spec)
            .map_err(|it| ExploreError::Harness(file.bad_specification(it.to_string())))?
            .to_any();
        if let Some((said, line)) = file.actors
            && said as usize != actors.len()
        {
            let there_are = actors.len();
            return Err(ExploreError::Other(format!(
                "line {line}: expected {there_are} actors, found {said}"
            )));
        }
        let calls = file.calls(&specification, &[], actors.len() as u32).map_err(ExploreError::Harness)?;
        let scenario = Scenario { calls, clients: file.clients.unwrap_or_default() };
        let spec = spec.to_owned();
        let harness = FileHarness::new(&file, specification, actors);
        Ok(Explore::new(harness).described(name, spec, scenario, OperationFormat::noted()))
    }
}
