//! Mutated inputs for tests of parsers.

use std::panic::{self, AssertUnwindSafe};

use crate::Rng;

/// Tokens that often break parsers.
const WORDS: [&str; 28] = [
    "0",
    "-1",
    "1e309",
    "-0.0",
    "NaN",
    "4294967296",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "100%",
    "%",
    "",
    " ",
    "\n",
    "\0",
    "\r\n",
    ":",
    ",",
    "=",
    "/",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "é随",
    "\u{202e}",
];
/// Most mutations of one input.
const MUTATIONS_MAX: u64 = 6;
/// Longest piece that is removed, repeated or moved.
const PIECE_BYTES_MAX: u64 = 24;

/// Returns one of `seeds` with one to six mutations: pieces removed, repeated, moved or taken from another seed, bits
/// flipped, tokens and numbers replaced.
#[must_use]
pub fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let one_of = |rng: &mut Rng| &seeds[rng.below(seeds.len() as u64) as usize];
    let mut out = one_of(rng).clone();
    for _ in 0..=rng.below(MUTATIONS_MAX) {
        let at = rng.below(out.len() as u64 + 1) as usize;
        let end = (at + 1 + rng.below(PIECE_BYTES_MAX) as usize).min(out.len());
        let word = WORDS[rng.below(WORDS.len() as u64) as usize].as_bytes();
        match rng.below(9) {
            0 => drop(out.drain(at..end)),
            1 => {
                let piece = out[at..end].to_vec();
                let to = rng.below(out.len() as u64 + 1) as usize;
                drop(out.splice(to..to, piece));
            }
            2 => out.truncate(at),
            3 if at < out.len() => out[at] ^= 1 << rng.below(8),
            4 => drop(out.splice(at..end, word.iter().copied())),
            5 => {
                // A whole number, wherever it stands.
                let begin = out[at..].iter().position(u8::is_ascii_digit).map_or(at, |digit| at + digit);
                let digits = out[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                drop(out.splice(begin..begin + digits, word.iter().copied()));
            }
            6 => {
                let other = one_of(rng);
                let from = rng.below(other.len() as u64 + 1) as usize;
                let to = (from + 4 * PIECE_BYTES_MAX as usize).min(other.len());
                drop(out.splice(at..at, other[from..to].iter().copied()));
            }
            7 => {
                // A line again, or gone.
                let begin = out[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
                let end =
                    out[at..].iter().position(|byte| *byte == b'\n').map_or(out.len(), |newline| at + newline + 1);
                let line = out[begin..end].to_vec();
                let again = if rng.below(2) == 0 { line.repeat(2) } else { Vec::new() };
                drop(out.splice(begin..end, again));
            }
            _ => drop(out.splice(at..at, word.iter().copied())),
        }
    }
    out
}

/// Calls `parse` with `cases` mutated inputs. `parse` may accept or reject an input, but must not panic.
///
/// # Panics
/// When `parse` panics, with the seed, the number of the case and the input.
pub fn each_mutated(name: &str, seed: u64, cases: u64, seeds: &[Vec<u8>], mut parse: impl FnMut(&[u8])) {
    for case in 0..cases {
        let input = mutated(&mut Rng::new(seed, case), seeds);
        // What went wrong was printed with its place.
        let parsed = panic::catch_unwind(AssertUnwindSafe(|| parse(&input)));
        assert!(parsed.is_ok(), "{name}: seed {seed}, case {case}:\n{}", String::from_utf8_lossy(&input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_found_and_a_case_is_the_same_each_time() {
        let seeds = [b"a=1\nb=2\n".to_vec(), b"c=3\n".to_vec()];
        let of = |case| mutated(&mut Rng::new(1, case), &seeds);
        assert!((0..200).all(|case| of(case) == of(case)) && of(1) != of(2));
        assert!((0..200).any(|case| of(case).contains(&0)) && (0..200).any(|case| of(case).len() < 4));
        each_mutated("fine", 1, 200, &seeds, |_| {});
        let found = panic::catch_unwind(|| {
            each_mutated("a parser", 1, 200, &seeds, |input| assert!(!input.contains(&b'%'), "a percent sign"));
        });
        assert!(found.is_err());
    }
}
