//! Settings of tests from the environment.

use super::plan::Stress;
use crate::{
    environment::{Variables, may_fail},
    error::Error,
};

/// Overrides the settings of `stress` by the variables that `look_up` finds. They take precedence
/// over the program. If one of the limits is set, the program's other limit does not apply either:
/// a test with ten minutes of time does not stop after twenty executions.
pub(super) fn apply(mut stress: Stress, look_up: impl Fn(&str) -> Option<String>) -> Result<Stress, Error> {
    let Variables { seed, executions, timeout, jobs } = Variables::read(&look_up)?;
    stress.jobs = jobs.unwrap_or(stress.jobs);
    stress.may_fail = may_fail(&look_up)?.unwrap_or(stress.may_fail);
    stress.seed = seed.unwrap_or(stress.seed);
    if executions.is_some() || timeout.is_some() {
        (stress.executions, stress.timeout) = (executions, timeout);
    }
    Ok(stress)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clewline_core::Value;
    use clewline_specs::register::{Call, Register};
    use clewline_threads::Subject;

    use super::*;
    use crate::environment::{EXECUTIONS, JOBS, SEED, TIMEOUT};

    struct Constant;

    impl Subject<Register> for Constant {
        fn call(&self, call: &Call) -> Value {
            match call {
                Call::Write(_) => Value::TRUE,
                Call::Read => Value::NIL,
            }
        }
    }

    fn applied(variables: &[(&str, &str)]) -> Result<Stress, String> {
        let stress = Stress::new(Register::new(), || Constant).executions(7).seed(1);
        let look_up =
            |name: &str| variables.iter().find(|it| it.0 == name).map(|(_, value)| (*value).to_owned());
        apply(stress, look_up).map_err(|it| it.to_string())
    }

    #[test]
    fn unset_variables_change_nothing() {
        let stress = applied(&[(SEED, "")]).expect("nothing is wrong");
        assert_eq!((stress.seed, stress.executions, stress.timeout), (1, Some(7), None));
    }

    #[test]
    fn variables_take_precedence_over_the_program() {
        let stress = applied(&[(SEED, "42"), (TIMEOUT, "2m"), (JOBS, "3")]).expect("nothing is wrong");
        assert_eq!(
            (stress.seed, stress.executions, stress.timeout, stress.jobs),
            (42, None, Some(Duration::from_secs(120)), 3)
        );
    }

    #[test]
    fn invalid_values_are_errors() {
        let error = applied(&[(EXECUTIONS, "many")]).expect_err("not a number");
        assert_eq!(
            error,
            "the environment variable CLEWLINE_EXECUTIONS: expected a number from 1; found `many`"
        );
        for wrong in ["10", "s", "ten s", "-1s", "0s", "1parsec"] {
            assert!(applied(&[(TIMEOUT, wrong)]).is_err(), "{wrong}");
        }
    }
}
