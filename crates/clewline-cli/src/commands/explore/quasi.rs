//! `--quasi`: how it affects histories and matrices.

use clewline_methods::{
    line_up::{Matrices, Options, QuasiQuery, calls},
    relaxed::Roles,
};
use clewline_report::render::text::shell_word;

use super::{args::Args, subject::Subject};
use crate::commands::{quasi, status::Failure};

/// Applies `--quasi` to the options. Returns which calls insert and which remove, if generated
/// matrices must have equal numbers of both.
pub(super) fn ask(args: &Args, subject: &Subject, options: &mut Options) -> Result<Option<Roles>, Failure> {
    let Some(quasi) = quasi::parse(args.quasi.as_deref(), args.reading.as_deref())? else { return Ok(None) };
    let spec = if args.spec == "serial" { subject.spec() } else { Some(args.spec.as_str()) };
    let given = [&args.initial, &args.final_calls].into_iter().chain(&args.calls).chain(&args.sequence);
    let columns = args.matrix.iter().flat_map(|it| it.split('|'));
    let written = given.map(String::as_str).chain(columns);
    // Text that is not a call is reported elsewhere.
    let mut called: Vec<String> =
        written.flat_map(|it| calls(&it.replace(',', " ")).unwrap_or_default()).collect();
    called.extend(subject.invocations());
    if let (None, Some(spec)) = (&args.golden, spec) {
        quasi::warn(&quasi, Roles::plain(spec))?;
    }
    let asking = QuasiQuery { quasi: &quasi, spec, calls: &called, matrices: args.matrices() };
    asking.ask(options).map_err(|it| Failure::at("--quasi", it))
}

impl Args {
    fn matrices(&self) -> Matrices {
        if self.ill_formed == "allow" { Matrices::Any } else { Matrices::WellFormed }
    }

    /// The flags of quasi-linearizability, as on the command line.
    pub(super) fn quasi_flags(&self) -> String {
        let mut typed = String::new();
        let mut add = |name: &str, value: &str| typed.push_str(&format!(" --{name} {}", shell_word(value)));
        if let Some(factors) = &self.quasi {
            add("quasi", factors);
        }
        if let Some(reading) = &self.reading {
            add("reading", reading);
        }
        if self.matrices() == Matrices::Any {
            add("ill-formed", "allow");
        }
        typed
    }
}
