//! Test matrices: the calls that threads make on a subject, and what is explored or run of them.
//!
//! * [`Matrix`] is a finite test: a column of calls for each thread. [`plan`] chooses matrices,
//!   and [`well_formed`] completes those of containers.
//! * [`Explorable`] and [`TestProgram`] are how a method explores a subject without knowing its
//!   type. A [`Component`] is a constructor and its calls, a [`SpecifiedSubject`] has a
//!   specification, and [`foreign_program`] makes calls of code that was not written for it.
//! * [`CallList`] and [`ColumnList`] are calls and columns as a builder takes them.
//! * [`Strategy`], [`Extent`] and [`Survey`] say which executions are made, and which were.
//! * [`orders`] and [`serializability`] look at one execution.
//! * [`ObservationSet`] has the serial histories of a matrix, and is a specification.
//! * [`SubjectFactory`] and [`ErasedSubject`] are how a method runs a subject on real threads
//!   without knowing its type.

mod call_list;
mod every;
mod inputs;
mod matrix;
mod observations;
pub mod orders;
pub mod plan;
mod recording;
pub mod serializability;
mod specified;
mod survey;
mod test_program;
pub mod well_formed;

pub use call_list::{CallList, ColumnList};
pub use every::{Every, ShownResult};
pub use inputs::{ErasedSubject, Inputs, RunResult, Session, SubjectFactory};
pub use matrix::{Alphabet, BadMatrix, Matrix, calls, method, split_method, split_outside};
pub use observations::{Nondeterminism, ObservationSet, SerialHistory};
pub use recording::recording;
pub use specified::{SpecifiedSubject, ToErasedHistory};
pub use survey::{EncodedSerialHistories, Explained, Extent, Strategy, Survey, Visits, why_cut};
pub use test_program::{
    Component, Explorable, Learned, TestProgram, TimeCheck, Visit, foreign_program, survey,
};
