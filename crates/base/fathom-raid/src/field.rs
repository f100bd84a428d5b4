//! The field GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d) and the generator 2, byte by byte: the
//! reference that faster code is held against, and the coefficients that recovery multiplies by.

/// The polynomial without its highest term: what doubling adds when it overflows.
pub const POLYNOMIAL: u8 = 0x1d;

/// `EXP[i]` = 2^i, over two periods so that sums of two logarithms need no reduction.
const EXP: [u8; 510] = {
    let mut table = [0; 510];
    let (mut at, mut power) = (0, 1_u8);
    while at < 510 {
        table[at] = power;
        power = double(power);
        at += 1;
    }
    table
};

/// `LOG[2^i]` = i; of 0 there is none.
const LOG: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 255 {
        table[EXP[at] as usize] = at as u8;
        at += 1;
    }
    table
};

/// 2 x `a`.
#[must_use]
pub const fn double(a: u8) -> u8 {
    (a << 1) ^ (if a & 0x80 == 0 { 0 } else { POLYNOMIAL })
}

/// `a` x `b`.
#[must_use]
pub const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 { 0 } else { EXP[LOG[a as usize] as usize + LOG[b as usize] as usize] }
}

/// 2^`exponent`: what Q multiplies the data block of that number by.
#[must_use]
pub const fn power_of_two(exponent: u32) -> u8 {
    EXP[(exponent % 255) as usize]
}

/// 1 / `a`.
///
/// # Panics
/// For 0, which has no inverse.
#[must_use]
pub const fn inverse(a: u8) -> u8 {
    assert!(a != 0, "0 has no inverse");
    EXP[255 - LOG[a as usize] as usize]
}

/// What the two data blocks `x` < `y`, both lost, are made from: with `Pd` and `Qd` the parities plus those of what is
/// left, block x is `a` Pd + `b` Qd, and block y is Pd + block x (Anvin, section 4).
///
/// # Panics
/// Where the two are the same block.
#[must_use]
pub const fn two_lost(x: u32, y: u32) -> (u8, u8) {
    assert!(x < y, "two blocks in their order");
    let apart = power_of_two(y - x);
    let divisor = inverse(apart ^ 1);
    (multiply(apart, divisor), multiply(inverse(power_of_two(x)), divisor))
}

/// `c` times each value of the lower and of the upper four bits of a byte: a product is the sum of one of each.
#[must_use]
pub const fn half_byte_products(c: u8) -> ([u8; 16], [u8; 16]) {
    let (mut low, mut high) = ([0; 16], [0; 16]);
    let mut value = 0;
    while value < 16 {
        low[value] = multiply(c, value as u8);
        high[value] = multiply(c, (value << 4) as u8);
        value += 1;
    }
    (low, high)
}

/// Multiplication by `c` as the 8 x 8 matrix of bits that the instruction `GF2P8AFFINEQB` takes: byte 7 - i has the row
/// of bit i of the product (Intel SDM, volume 2).
#[must_use]
pub const fn bit_matrix(c: u8) -> u64 {
    let mut matrix = 0;
    let mut column = 0;
    while column < 8 {
        let product = multiply(c, 1 << column);
        let mut row = 0;
        while row < 8 {
            if product >> row & 1 == 1 {
                matrix |= 1 << ((7 - row) * 8 + column);
            }
            row += 1;
        }
        column += 1;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    /// Multiplication as polynomials, without a table.
    fn slow(a: u8, b: u8) -> u8 {
        (0..8).filter(|bit| b >> bit & 1 == 1).map(|bit| (0..bit).fold(a, |x, _| double(x))).fold(0, |sum, x| sum ^ x)
    }

    #[test]
    fn the_tables_multiply_as_polynomials_do() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(multiply(a, b), slow(a, b), "{a} x {b}");
            }
            if a != 0 {
                assert_eq!(multiply(a, inverse(a)), 1, "{a}");
            }
            let (low, high) = half_byte_products(a);
            for b in 0..=255_u8 {
                assert_eq!(low[usize::from(b & 15)] ^ high[usize::from(b >> 4)], multiply(a, b));
            }
        }
    }

    #[test]
    fn the_generator_gives_each_element_once() {
        let mut seen: Vec<u8> = (0..255).map(power_of_two).collect();
        seen.sort_unstable();
        assert_eq!(seen, (1..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn the_matrix_multiplies_as_the_instruction_is_described() {
        let affine = |matrix: u64, x: u8| {
            (0..8).map(|bit| ((((matrix >> ((7 - bit) * 8)) as u8 & x).count_ones() & 1) as u8) << bit).sum::<u8>()
        };
        for c in 0..=255 {
            for x in 0..=255 {
                assert_eq!(affine(bit_matrix(c), x), multiply(c, x), "{c} x {x}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_two_lost_blocks_come_back(data in proptest::collection::vec(any::<u8>(), 2..60), x in 0_usize..60, y in 0_usize..60) {
            let (x, y) = (x % data.len(), y % data.len());
            if x < y {
                let term = |at: usize| multiply(power_of_two(at as u32), data[at]);
                // What is left of P and Q when the blocks that are there are taken out: the terms of the lost.
                let (p, q) = (data[x] ^ data[y], term(x) ^ term(y));
                let (a, b) = two_lost(x as u32, y as u32);
                let lost = multiply(a, p) ^ multiply(b, q);
                prop_assert_eq!((lost, lost ^ p), (data[x], data[y]));
            }
        }
    }
}
