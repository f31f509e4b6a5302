//! Numbers that are not integers of 64 bits, in one canonical form each.
//!
//! They are only ever compared, and two notations of one number (`1.50` and `15e-1`) must not be
//! two values: that would report false violations. So a decimal is converted to the form that
//! JavaScript would print, except that a decimal stays a decimal: `1e3` is `1000.0`. JSON has only
//! one kind of number, so there it is the integer 1000.

// Numbers with larger ones are compared as they are written.
const COMPARED_EXPONENT_MAX: i64 = 1 << 50;

/// The canonical form of `written`, a decimal with a fraction or an exponent:
/// `-?digits(.digits)?([eE][+-]?digits)?`.
pub(crate) fn decimal(written: &str) -> String {
    let Some(ScientificNumber { sign, digits, power }) = ScientificNumber::read(written) else {
        return written.trim_start_matches('+').to_ascii_lowercase();
    };
    if digits.is_empty() {
        return "0.0".to_owned();
    }
    match power {
        1..=21 => {
            let whole = power as usize;
            let zeros = "0".repeat(whole.saturating_sub(digits.len()));
            let (before, after) = digits.split_at(whole.min(digits.len()));
            let after = if after.is_empty() { "0" } else { after };
            format!("{sign}{before}{zeros}.{after}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", "0".repeat(power.unsigned_abs() as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e{}", power - 1)
        }
    }
}

/// A number, 0.DIGITS times ten to some power; no digits at all are zero.
struct ScientificNumber {
    sign: &'static str,
    // Neither the first nor the last is 0.
    digits: String,
    power: i64,
}

impl ScientificNumber {
    /// `None` if its exponent is too large.
    fn read(written: &str) -> Option<ScientificNumber> {
        let (sign, unsigned) = match written.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", written.strip_prefix('+').unwrap_or(written)),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = format!("{whole}{fraction}");
        digits.truncate(digits.trim_end_matches('0').len());
        let leading = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..leading);
        if digits.is_empty() {
            return Some(ScientificNumber { sign: "", digits, power: 0 });
        }
        let exponent = exponent.parse::<i64>().ok();
        let exponent = exponent.filter(|it| (-COMPARED_EXPONENT_MAX..COMPARED_EXPONENT_MAX).contains(it))?;
        Some(ScientificNumber { sign, digits, power: exponent + whole.len() as i64 - leading as i64 })
    }
}

/// A number of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonNumber {
    /// It is an integer of 64 bits, in any notation.
    Int(i64),
    /// It is not; this is its one form.
    Other(String),
}

// Integers of at most this number of digits are written out.
const WRITTEN_OUT_INTEGER_DIGITS_MAX: i64 = 400;

/// The canonical form of a JSON number that is not simply the digits of an integer of 64 bits.
#[cold]
pub(crate) fn json(written: &str) -> JsonNumber {
    match ScientificNumber::read(written) {
        Some(ScientificNumber { sign, digits, power })
            if digits.len() as i64 <= power && power <= WRITTEN_OUT_INTEGER_DIGITS_MAX
                || digits.is_empty() =>
        {
            let zeros = "0".repeat(power as usize - digits.len());
            let whole = if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}{zeros}") };
            whole.parse().map_or(JsonNumber::Other(whole), JsonNumber::Int)
        }
        Some(_) | None => JsonNumber::Other(decimal(written)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_one_kind_of_number() {
        for written in ["100.0", "1e2", "100.000", "1000e-1"] {
            assert_eq!(json(written), JsonNumber::Int(100), "{written}");
        }
        assert_eq!(json("-0.0"), JsonNumber::Int(0));
        assert_eq!(json("-9223372036854775808.0"), JsonNumber::Int(i64::MIN));
        assert_eq!(json("1.5"), JsonNumber::Other("1.5".to_owned()));
        for written in ["10000000000000000000000", "1e22", "10000000000000000000000.0"] {
            assert_eq!(json(written), JsonNumber::Other("10000000000000000000000".to_owned()), "{written}");
        }
        assert_eq!(json("1e400"), JsonNumber::Other("1e400".to_owned()));
        assert_eq!(json("9223372036854775808"), JsonNumber::Other("9223372036854775808".to_owned()));
    }

    #[track_caller]
    fn check(written: &[&str], expected: &str) {
        for written in written {
            assert_eq!(decimal(written), expected, "{written}");
            assert_eq!(decimal(&decimal(written)), expected, "the form of a form is itself");
        }
    }

    #[test]
    fn one_number_has_one_form() {
        check(&["1.5", "1.50", "15e-1", "+1.5", "0.15e1", "0.015E+2"], "1.5");
        check(&["-1.5", "-15E-01"], "-1.5");
        check(&["1e3", "1000.0", "1E+3", "10e2"], "1000.0");
        check(&["0.0", "-0.0", "0e7", "0.000e99"], "0.0");
        check(&["0.05", "5e-2"], "0.05");
        check(&["1e22", "10e21", "10000000000000000000000.0"], "1e22");
        check(&["1.25e-9", "0.00000000125"], "1.25e-9");
        check(&["123456789012345678901.5"], "123456789012345678901.5");
    }

    #[test]
    fn huge_exponents_are_kept_as_written() {
        check(&["1E99999999999999999999"], "1e99999999999999999999");
        check(&["1e9223372036854775807"], "1e9223372036854775807");
        check(&["1e-9223372036854775808"], "1e-9223372036854775808");
    }
}
