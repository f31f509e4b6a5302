//! Entries of the table: actor systems with their variants, and how to use one with its types
//! erased.

use clewline_actors::{AnyActor, Clients, Harness, Ignored, Property};
use clewline_core::Codec;
use clewline_systems::{ErasedHarness, ExploreError, FileHarness, FileMessage, HarnessFile};

use super::shape::{ReadsAndWrites, Shape};

/// An actor system that the command line can name, with its variants.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline systems`.
    pub about: &'static str,
    /// Source: authors, title, year.
    pub source: &'static str,
    /// What it should do: the name of a specification.
    pub spec: &'static str,
    /// The methods of the specification that it offers: no others may be called.
    pub offers: &'static [&'static str],
    /// How it is read and written, if it is: then it supports shapes such as `2r+1w`. If variants
    /// have different specifications, those of each.
    pub shapes: &'static [ReadsAndWrites],
    /// The plain variant, whose name is empty, and then the others.
    pub variants: &'static [Variant],
    /// The harness of the variant with this name and this number of actors, with its
    /// [usage](Usage::of).
    pub harness: fn(&str, u32, Usage<'_>) -> Result<ErasedHarness, ExploreError>,
}

/// A correct system, one with a defect, or a port of a published one.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// What follows the system's name after a colon; empty for the plain variant.
    pub name: &'static str,
    /// Its peculiarity, and the flaw of a flawed one.
    pub about: &'static str,
    /// The symptom of its flaw; `None` if it is correct.
    pub flaw: Option<Symptom>,
    /// The default number of actors.
    pub actors: u32,
    /// The least and the greatest number of actors it supports.
    pub range: (u32, u32),
    /// The calls of the default scenario, in which a flaw shows: a [shape](crate::systems::Shape),
    /// or the lines of a [harness file](clewline_systems::HarnessFile) with semicolons
    /// between them.
    pub calls: &'static str,
    /// How clients go about their calls.
    pub clients: Clients,
    /// What becomes of a message that its receiver takes no notice of.
    pub ignored: Ignored,
    /// Why a call may never return although the variant is correct; `None` if every call returns.
    pub may_not_return: Option<&'static str>,
}

impl Variant {
    /// As in stateright's examples: clients that write and then read, and receive messages as
    /// actors do.
    pub(crate) const STATERIGHT: Variant = Variant {
        name: "stateright",
        about: "message for message as in the example of stateright, so that states can be counted",
        calls: "2c",
        clients: Clients::Waiting,
        ignored: Ignored::Stays,
        ..Variant::PLAIN
    };

    /// What most have: two or more actors, three calls.
    pub const PLAIN: Variant = Variant {
        name: "",
        about: "",
        flaw: None,
        actors: 2,
        range: (2, 9),
        calls: "2r+1w",
        clients: Clients::Tight,
        ignored: Ignored::Gone,
        may_not_return: None,
    };
}

/// How a flaw shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// Some history is not linearizable.
    Violated,
    /// Some call never returns, although every message was delivered.
    Incomplete,
    /// The property of that name does not hold.
    Property(&'static str),
}

/// A variant of a system.
#[derive(Clone, Copy, Debug)]
pub struct FoundSystem {
    /// The system.
    pub system: &'static System,
    /// The variant.
    pub variant: &'static Variant,
}

impl FoundSystem {
    /// The name used on the command line: `NAME` or `NAME:VARIANT`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.variant.name {
            "" => self.system.name.to_owned(),
            variant => format!("{}:{variant}", self.system.name),
        }
    }
}

/// A visitor that can use any system, whatever its types.
pub trait SystemVisitor {
    /// Its result.
    type Output;

    /// A harness file with lines to be used instead of the system's own.
    fn file(&self) -> Option<&HarnessFile> {
        None
    }

    /// Uses the system.
    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Self::Output;
}

/// Passes the system of these actors to `visitor`, with the harness file `text`.
///
/// # Panics
///
/// If `text` is no harness file with a specification.
pub(super) fn visit_file<M: FileMessage, V: SystemVisitor>(
    text: &str,
    actors: Vec<Box<dyn AnyActor<M>>>,
    properties: fn() -> Vec<Property<M>>,
    visitor: V,
) -> V::Output {
    let own = HarnessFile::read(text).expect("the files of systems are harness files");
    let file = visitor.file().map_or_else(|| own.clone(), |it| it.clone().or(&own));
    let name = file.specification().expect("the files of systems name a specification");
    let specification = clewline_specs::find(name).expect("the specification was looked up before");
    visitor.visit(FileHarness::new(&file, specification.to_any(), actors).with_properties(properties))
}

/// A system that is built in, and how it is used.
#[derive(Clone, Debug)]
pub struct NamedSystem {
    pub(super) found: FoundSystem,
    pub(super) calls: Calls,
    pub(super) actors: u32,
    pub(super) clients: Clients,
}

#[derive(Clone, Debug)]
pub(super) enum Calls {
    Shape(Shape),
    File(Box<HarnessFile>),
}

/// How a system is used: which calls are made.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    pub(super) named: &'a NamedSystem,
    pub(super) is_as_published: bool,
}
