//! Decimal numbers in front of units, without rounding.

/// What is wrong with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberProblem {
    Missing,
    Malformed,
    TooLarge,
    NotWhole,
}

/// Split a text into its leading digits and points, and the rest without surrounding space.
pub(crate) fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Whether a text of digits and points is one decimal number.
pub(crate) fn check(number: &str) -> Result<(), NumberProblem> {
    if number.is_empty() {
        return Err(NumberProblem::Missing);
    }
    let points = number.bytes().filter(|b| *b == b'.').count();
    if points > 1 || number == "." { Err(NumberProblem::Malformed) } else { Ok(()) }
}

/// `number` x `multiplier`, exact: `1.5` x 1024 = 1536.
pub(crate) fn scale(number: &str, multiplier: u64) -> Result<u64, NumberProblem> {
    check(number)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    // Only the digits can overflow: the text holds nothing else.
    let digits: u128 = digits.parse().map_err(|_| NumberProblem::TooLarge)?;
    let product = digits.checked_mul(u128::from(multiplier)).ok_or(NumberProblem::TooLarge)?;
    let places = u32::try_from(fraction.len()).map_err(|_| NumberProblem::TooLarge)?;
    let divisor = 10_u128.checked_pow(places).ok_or(NumberProblem::TooLarge)?;
    if !product.is_multiple_of(divisor) {
        return Err(NumberProblem::NotWhole);
    }
    u64::try_from(product / divisor).map_err(|_| NumberProblem::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact_or_refused() {
        assert_eq!(scale("1.5", 1024), Ok(1536));
        assert_eq!(scale(".5", 1024), Ok(512));
        assert_eq!(scale("2.", 7), Ok(14));
        assert_eq!(scale("1.000", 1), Ok(1));
        assert_eq!(scale("0.3", 1), Err(NumberProblem::NotWhole));
        assert_eq!(scale("18446744073709551615", 1), Ok(u64::MAX));
        assert_eq!(scale("18446744073709551616", 1), Err(NumberProblem::TooLarge));
        assert_eq!(scale(&"9".repeat(60), 1), Err(NumberProblem::TooLarge));
        assert_eq!(scale(".", 1), Err(NumberProblem::Malformed));
        assert_eq!(scale("1.2.3", 1), Err(NumberProblem::Malformed));
        assert_eq!(scale("", 1), Err(NumberProblem::Missing));
    }
}
