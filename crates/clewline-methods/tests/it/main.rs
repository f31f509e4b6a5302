//! Methods with specifications of a user's own, through the facade.

mod line_up_own;
mod own;
mod saved;
mod tutorial;
