//! Settings of tests from the environment: `CLEWLINE_SEED`, `CLEWLINE_EXECUTIONS`,
//! `CLEWLINE_TIMEOUT`, `CLEWLINE_MAY_FAIL`.

use super::plan::Stress;
use crate::{
    environment::{duration, may_fail, parsed},
    error::Error,
};

pub(super) const SEED: &str = "CLEWLINE_SEED";
pub(super) const EXECUTIONS: &str = "CLEWLINE_EXECUTIONS";
pub(super) const TIMEOUT: &str = "CLEWLINE_TIMEOUT";

/// Overrides the settings of `stress` by the variables that `look_up` finds. They take precedence
/// over the program. If one of the limits is set, the program's other limit does not apply either:
/// a test with ten minutes of time does not stop after twenty executions.
pub(super) fn apply(mut stress: Stress, look_up: impl Fn(&str) -> Option<String>) -> Result<Stress, Error> {
    let seed = parsed(&look_up, SEED, "a number", |it| it.parse().ok())?;
    let executions =
        parsed(&look_up, EXECUTIONS, "a number from 1", |it| it.parse().ok().filter(|&it: &u64| it != 0))?;
    let timeout = parsed(&look_up, TIMEOUT, "a duration such as 500ms, 10s, 5m or 1h", duration)?;
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
        let stress = applied(&[(SEED, "42"), (TIMEOUT, "2m")]).expect("nothing is wrong");
        assert_eq!(
            (stress.seed, stress.executions, stress.timeout),
            (42, None, Some(Duration::from_secs(120)))
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
