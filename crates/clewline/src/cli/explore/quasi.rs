//! `--quasi`: what it asks of histories, and of matrices.

use clewline::methods::{
    line_up::{Against, Matrix, Options, Plan},
    round_up::{ALL, Factor, Factors, Judging, Roles, WellFormed},
};

use super::{Args, subject::Subject};
use crate::cli::Failure;

/// Which calls put something in and take something out, if matrices are to be well-formed.
fn roles(args: &Args, subject: &Subject) -> Option<Roles> {
    args.quasi.as_ref().filter(|_| args.ill_formed == "forbid")?;
    Roles::of(&spec(args, subject)?)
}

/// The matrices of `plan`, in the order in which they are checked. Those that nobody wrote take out as much as they put in, if that
/// is wanted.
pub(super) fn matrices<'a>(
    args: &Args,
    subject: &Subject,
    plan: &'a Plan,
) -> impl Iterator<Item = Matrix> + Send + use<'a> {
    let roles = roles(args, subject).filter(|_| args.matrix.is_none());
    plan.matrices().map(move |it| match roles {
        Some(roles) => roles.complete(it),
        None => it,
    })
}

/// The specification without relaxation.
fn spec(args: &Args, subject: &Subject) -> Option<String> {
    let named = if args.spec == "serial" { subject.spec()? } else { &args.spec };
    Some(Roles::plain(named).to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Relaxed,
    Displacement,
}

/// Has histories judged as `--quasi` says.
pub(super) fn ask(args: &Args, subject: &Subject, plan: &Plan, options: &mut Options) -> Result<(), Failure> {
    let Some(factors) = &args.quasi else { return Ok(()) };
    let plain = spec(args, subject);
    let roles = plain.as_deref().and_then(Roles::of);
    check_methods(args, subject, factors)?;
    match reading(args, factors, roles) {
        Reading::Relaxed => {
            let told =
                "--reading: there is no relaxed specification for this subject; try --reading displacement";
            let name = roles.and_then(|it| it.relaxed()).ok_or_else(|| Failure::Told(told.to_owned()))?;
            let removes =
                |it: &&(String, Factor)| roles.is_some_and(|roles| roles.is_remove(&it.0)) || it.0 == ALL;
            match factors.classes().iter().find(removes).map(|it| it.1) {
                Some(Factor::Asked) => options.judging = Judging::LeastRelaxed(name.to_owned()),
                Some(Factor::AtMost(most)) => options.against = Against::Named(format!("{name}:{most}")),
                None => options.against = Against::Named(format!("{name}:0")),
            }
            if let (Judging::LeastRelaxed(_), Some(plain)) = (&options.judging, plain) {
                options.against = Against::Named(plain);
            }
        }
        Reading::Displacement => {
            match (&options.against, plain) {
                (Against::Golden(_), _) => (),
                (_, Some(plain)) => options.against = Against::Named(plain),
                (_, None) => {
                    return Err(Failure::Told(
                        "--quasi: what this subject does one call at a time may be relaxed as well; say what is right with --spec \
                         or --golden"
                            .to_owned(),
                    ));
                }
            }
            let required = roles.filter(|_| args.ill_formed == "forbid");
            if let (Some(roles), Some(matrix)) = (required, plan.only()) {
                roles
                    .check(&matrix)
                    .map_err(|it| Failure::Told(format!("--matrix: {it}, or say --ill-formed allow")))?;
            }
            let well_formed = required.map_or(WellFormed::Whatever, WellFormed::Required);
            options.judging = Judging::Displaced(factors.clone(), well_formed);
        }
    }
    Ok(())
}

/// Which reading is meant, if nobody says: a relaxed specification has a factor for what takes out, and no other.
fn reading(args: &Args, factors: &Factors, roles: Option<Roles>) -> Reading {
    match args.reading.as_deref() {
        Some("relaxed") => Reading::Relaxed,
        Some(_) => Reading::Displacement,
        None => {
            let fits = |(method, factor): &(String, Factor)| {
                roles.is_some_and(|it| it.is_remove(method)) || *factor == Factor::AtMost(0)
            };
            let has_relaxed = roles.is_some_and(|it| it.relaxed().is_some());
            let is_all = factors.classes().iter().any(|it| it.0 == ALL);
            if has_relaxed && args.golden.is_none() && !is_all && factors.classes().iter().all(fits) {
                Reading::Relaxed
            } else {
                Reading::Displacement
            }
        }
    }
}

/// A method that nobody calls has no place to be out of.
fn check_methods(args: &Args, subject: &Subject, factors: &Factors) -> Result<(), Failure> {
    let mut known: Vec<String> = subject.invocations();
    known.extend(
        args.invocations
            .iter()
            .chain(&args.matrix)
            .flat_map(|it| it.split([' ', ',', '|']).map(ToOwned::to_owned).collect::<Vec<_>>()),
    );
    let mut known: Vec<&str> = known.iter().filter_map(|it| it.split('(').next()).collect();
    known.retain(|it| it.starts_with(char::is_alphabetic));
    known.sort_unstable();
    known.dedup();
    match factors.classes().iter().find(|it| it.0 != ALL && !known.contains(&it.0.as_str())) {
        None => Ok(()),
        Some((method, _)) => Err(Failure::Told(format!(
            "--quasi: nobody calls `{method}` (there are {}, and `{ALL}`)",
            known.join(", ")
        ))),
    }
}
