//! OCP's extended SMART log, page C0h, of drives made for data centres: the only standard place for NAND-written bytes.

use serde::{Deserialize, Serialize};

use crate::bytes::{Page, ShortPage};

/// Identifies the page (OCP, "Log Page GUID": AFD514C97C6F4F9CA4F2BFEA2810AFC5h), in the order of the bytes.
const GUID: [u8; 16] = [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf];

/// What Fathom uses of the page (OCP 2.0, SMART-1 to SMART-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OcpSmartLog {
    /// Bytes written to the media for any reason (SMART-1).
    pub nand_written_bytes: u64,
    /// Bytes read from the media for any reason (SMART-2).
    pub nand_read_bytes: u64,
    /// Times it began to slow down because of heat (SMART-12).
    pub throttle_events: u8,
    /// How much it is slowed down now: 0 not, 1 first level, 2 second level, 3 shut down (SMART-12).
    pub throttle_level: u8,
    /// PCIe errors that were corrected (SMART-14).
    pub pcie_correctable_errors: u64,
    /// Blocks that are free, percent (SMART-17).
    pub free_blocks_pct: u8,
    /// Health of the capacitors that save the cache, percent of what is needed; 255: no capacitors (SMART-18).
    pub capacitor_pct: u16,
}

impl OcpSmartLog {
    /// Decodes the page; `Ok(None)` when the bytes are another maker's page of the same number.
    ///
    /// # Errors
    /// [`ShortPage`] below 512 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, ShortPage> {
        let page = Page::<512>::new("OCP SMART log", bytes)?;
        if page.part(496, 16) != GUID {
            return Ok(None);
        }
        Ok(Some(OcpSmartLog {
            nand_written_bytes: page.u128(0),
            nand_read_bytes: page.u128(16),
            throttle_events: page.u8(96),
            throttle_level: page.u8(97),
            pcie_correctable_errors: page.u64(104),
            free_blocks_pct: page.u8(120),
            capacitor_pct: page.u16(128),
        }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn page(nand_written_bytes: u64) -> [u8; 512] {
        let mut page = [0; 512];
        page[0..8].copy_from_slice(&nand_written_bytes.to_le_bytes());
        page[16] = 9;
        page[96..98].copy_from_slice(&[3, 1]);
        page[104] = 5;
        page[120] = 40;
        page[128] = 100;
        page[496..].copy_from_slice(&GUID);
        page
    }

    #[test]
    fn nand_bytes_and_throttling_are_read_from_the_ocp_page() {
        let log = OcpSmartLog::decode(&page(7_000_000)).expect("long enough").expect("the page is OCP's");
        assert_eq!((log.nand_written_bytes, log.nand_read_bytes), (7_000_000, 9));
        assert_eq!((log.throttle_events, log.throttle_level, log.pcie_correctable_errors), (3, 1, 5));
        assert_eq!((log.free_blocks_pct, log.capacitor_pct), (40, 100));
    }

    #[test]
    fn another_makers_page_of_that_number_is_not_taken_for_ocps() {
        let mut other = page(1);
        other[511] ^= 1;
        assert_eq!(OcpSmartLog::decode(&other), Ok(None));
        assert!(OcpSmartLog::decode(&other[..100]).is_err());
    }
}
