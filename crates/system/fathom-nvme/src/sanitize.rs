//! Sanitize Status, log page 81h.

use crate::bytes::{Page, ShortPage};

/// Length of the part that is decoded.
const STATUS_BYTES: usize = 32;

/// How the last sanitize of a drive went (Base 2.0, figure "Sanitize Status Log Page").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanitizeState {
    /// There never was one.
    Never,
    /// Done.
    Done,
    /// Under way.
    Running,
    /// It failed; the drive may refuse all else.
    Failed,
}

/// Sanitize Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeStatus {
    /// How it went.
    pub state: SanitizeState,
    /// Share of one under way that is done, in 65536ths.
    pub done_65536ths: u16,
    /// Seconds that a block erase takes; `None` when the drive does not report it.
    pub block_erase_s: Option<u32>,
    /// Seconds that a cryptographic erase takes; `None` when the drive does not report it.
    pub crypto_erase_s: Option<u32>,
}

impl SanitizeStatus {
    /// Decodes the page.
    ///
    /// # Errors
    /// [`ShortPage`] below 32 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, ShortPage> {
        let page = Page::<STATUS_BYTES>::new("Sanitize Status", bytes)?;
        let seconds = |at: usize| Some(page.u32(at)).filter(|s| *s != u32::MAX);
        Ok(SanitizeStatus {
            state: match page.u16(2) & 0b111 {
                0 => SanitizeState::Never,
                2 => SanitizeState::Running,
                3 => SanitizeState::Failed,
                // 4 is done as well, without the deallocation that was not asked for.
                _ => SanitizeState::Done,
            },
            done_65536ths: page.u16(0),
            block_erase_s: seconds(12),
            crypto_erase_s: seconds(16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_the_progress_and_the_estimates_are_read_at_their_places() {
        let mut page = [0xff_u8; 512];
        page[0..4].copy_from_slice(&[0x00, 0x40, 0b0000_0010, 0x01]); // a quarter done, under way
        page[12..16].copy_from_slice(&[90, 0, 0, 0]);
        let status = SanitizeStatus::decode(&page).expect("a whole page");
        assert_eq!((status.state, status.done_65536ths), (SanitizeState::Running, 0x4000));
        assert_eq!((status.block_erase_s, status.crypto_erase_s), (Some(90), None));
        for (word, state) in
            [(0, SanitizeState::Never), (1, SanitizeState::Done), (3, SanitizeState::Failed), (4, SanitizeState::Done)]
        {
            page[2] = word;
            assert_eq!(SanitizeStatus::decode(&page).map(|s| s.state), Ok(state), "{word}");
        }
        assert!(SanitizeStatus::decode(&page[..31]).is_err());
    }
}
