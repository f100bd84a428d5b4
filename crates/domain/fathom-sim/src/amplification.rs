//! Write amplification in closed form.

/// Write amplification of uniform random writes at steady state, by spare factor rho = spare / user space.
///
/// `WA = a / (a + W0(-a e^-a))` with a = 1 + rho (Xiang and Kurkoski 2011), exact for cleaning the oldest block first.
/// Infinite without spare space.
#[must_use]
pub fn write_amplification(rho: f64) -> f64 {
    if rho <= 0.0 {
        return f64::INFINITY;
    }
    // With v the share of valid pages in the oldest block, WA = 1 / (1 - v) and v = exp(-a (1 - v)): its root below 1.
    let a = 1.0 + rho;
    let mut valid = libm::exp(-a);
    for _ in 0..200 {
        let error = valid - libm::exp(-a * (1.0 - valid));
        let slope = 1.0 - a * libm::exp(-a * (1.0 - valid));
        let next = valid - error / slope;
        if (next - valid).abs() < 1e-15 {
            break;
        }
        valid = next.clamp(0.0, 1.0);
    }
    1.0 / (1.0 - valid)
}

/// Write amplification while a purged drive fills, by what was written as a multiple of its user space: 1 until the
/// flash is full, then rising to `steady` over the next 1.5 fills (fluid curve of write saturation).
#[must_use]
pub(crate) fn filling_amplification(written_fills: f64, rho: f64, steady: f64) -> f64 {
    let full = 1.0 + rho;
    let progress = ((written_fills - full) / 1.5).clamp(0.0, 1.0);
    // Smooth at both ends: cleaning meets nearly empty blocks first.
    1.0 + (steady - 1.0) * progress * progress * (3.0 - 2.0 * progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_gives_the_published_values() {
        for (rho, wa) in
            [(0.07, 7.8), (0.10, 5.7), (0.125, 4.7), (0.20, 3.2), (0.28, 2.5), (0.3, 2.36), (0.5, 1.7), (1.0, 1.26)]
        {
            let got = write_amplification(rho);
            assert!((got / wa - 1.0).abs() < 0.02, "rho {rho}: {got}");
        }
        assert!(write_amplification(0.0).is_infinite());
    }

    #[test]
    fn a_purged_drive_starts_without_amplification() {
        assert_eq!(filling_amplification(1.0, 0.1, 5.0), 1.0);
        assert_eq!(filling_amplification(9.0, 0.1, 5.0), 5.0);
    }
}
