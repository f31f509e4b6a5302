//! Classes in the manner of the .NET Framework's, one file each.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic linearizability checker",
//! 2010, tables 1 and 2.

use crate::Class;

clewline_core::registry! {
    /// Every class, in alphabetical order.
    CLASSES: Class;
    manual_reset_event,
}
