//! Arithmetic in the values of a job file: `$mb_memory/2`, `(4*16k)`.

use super::units::fio_bytes;

/// Whole number that `text` computes to: `+ - * /` with the usual precedence, parentheses, and sizes as fio writes them
/// (`4k`). A division drops the fraction, as fio's does. `None`: this is no arithmetic, or no number of 64 bits.
pub(super) fn computed(text: &str) -> Option<u64> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut rest = Rest { text: &compact, depth: 0 };
    let value = rest.sum()?;
    (rest.text.is_empty()).then(|| u64::try_from(value).ok())?
}

/// Deepest nesting of parentheses.
const DEPTH_MAX: u32 = 64;

struct Rest<'t> {
    text: &'t str,
    depth: u32,
}

impl Rest<'_> {
    fn take(&mut self, c: char) -> bool {
        let rest = self.text.strip_prefix(c);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        loop {
            value = match () {
                () if self.take('+') => value.checked_add(self.product()?)?,
                () if self.take('-') => value.checked_sub(self.product()?)?,
                () => return Some(value),
            };
        }
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.factor()?;
        loop {
            value = match () {
                () if self.take('*') => value.checked_mul(self.factor()?)?,
                () if self.take('/') => value.checked_div(self.factor()?)?,
                () => return Some(value),
            };
        }
    }

    fn factor(&mut self) -> Option<i128> {
        if self.take('(') {
            self.depth += 1;
            let value = (self.depth < DEPTH_MAX).then(|| self.sum())??;
            self.depth -= 1;
            return self.take(')').then_some(value);
        }
        let end = self.text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.text.len());
        let (number, rest) = self.text.split_at(end);
        self.text = rest;
        fio_bytes(number).map(i128::from)
    }
}

#[cfg(test)]
mod tests {
    use super::computed;

    #[test]
    fn values_are_computed_as_bc_does() {
        let cases =
            [("8*4096", 32768), ("(1+2)*3", 9), ("7/2*2", 6), ("10-2-3", 5), ("(4*16k)", 65536), (" 2 * 3 ", 6)];
        for (text, value) in cases {
            assert_eq!(computed(text), Some(value), "{text}");
        }
        for text in ["", "1+", "(1", "1/0", "2-3", "a*b", "1)", "9999999999999*9999999999999999"] {
            assert_eq!(computed(text), None, "{text}");
        }
    }
}
