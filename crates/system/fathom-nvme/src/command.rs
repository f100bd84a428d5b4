//! Commands as the kernel's passthrough takes them.

use crate::bytes::ShortPage;
use crate::features::{Coalescing, FeatureId};
use crate::identify::Namespace;

/// Get Log Page pages.
const LOG_SMART: u8 = 0x02;
const LOG_SANITIZE: u8 = 0x81;
const LOG_OCP_SMART: u8 = 0xc0;
/// All namespaces.
const ALL_NAMESPACES: u32 = 0xffff_ffff;

/// Which way a command's data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// No data.
    None,
    /// The drive fills a buffer of so many bytes.
    FromDrive(u32),
}

/// An admin command (Base 2.0, chapter 5). The destructive ones are [`format`](Self::format) and
/// [`sanitize`](Self::sanitize); building one does nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdminCommand {
    /// Opcode.
    pub opcode: u8,
    /// Namespace.
    pub namespace: u32,
    /// Command dwords 10 to 15.
    pub dwords: [u32; 6],
    /// Data.
    pub transfer: Transfer,
    /// Patience; 0: the kernel's own (60 s).
    pub timeout_ms: u32,
    /// Its name in the specification.
    pub name: &'static str,
}

/// What Format NVM shall do with the data that is there (Base, SES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureErase {
    /// Leave it to the drive.
    No = 0,
    /// Erase all user data.
    UserData = 1,
    /// Throw the key away.
    Cryptographic = 2,
}

/// A format of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatRequest {
    /// Namespace; 0xffffffff: all.
    pub namespace: u32,
    /// Index of the LBA format.
    pub format: u8,
    /// Metadata behind each block's data rather than in a buffer of its own (Base, MSET).
    pub metadata_inline: bool,
    /// Type of end-to-end protection; 0: none (Base, PI).
    pub protection_type: u8,
    /// Protection information in the first bytes of the metadata rather than the last (Base, PIL).
    pub protection_first: bool,
    /// Erase.
    pub erase: SecureErase,
    /// Patience; formats of large drives take minutes.
    pub timeout_ms: u32,
}

impl FormatRequest {
    /// The request that leaves the namespace in the format it has, by its Identify Namespace page.
    ///
    /// # Errors
    /// [`ShortPage`] below 4096 bytes.
    pub fn unchanged(
        namespace: u32,
        page: &[u8],
        erase: SecureErase,
        timeout_ms: u32,
    ) -> Result<FormatRequest, ShortPage> {
        let described = Namespace::decode(page)?;
        Ok(FormatRequest {
            namespace,
            format: described.format as u8,
            metadata_inline: described.metadata_inline,
            protection_type: described.protection_type,
            protection_first: described.protection_first,
            erase,
            timeout_ms,
        })
    }
}

/// How to sanitize (Base, SANACT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanitizeAction {
    /// Leave the failure mode.
    ExitFailure = 1,
    /// Erase the blocks of the media.
    BlockErase = 2,
    /// Throw the key away.
    CryptoErase = 4,
}

impl AdminCommand {
    fn new(name: &'static str, opcode: u8, namespace: u32, transfer: Transfer) -> Self {
        AdminCommand { opcode, namespace, dwords: [0; 6], transfer, timeout_ms: 0, name }
    }

    /// Identify Controller.
    #[must_use]
    pub fn identify_controller() -> Self {
        let mut command = Self::new("Identify Controller", 0x06, 0, Transfer::FromDrive(4096));
        command.dwords[0] = 0x01;
        command
    }

    /// Identify Namespace.
    #[must_use]
    pub fn identify_namespace(namespace: u32) -> Self {
        Self::new("Identify Namespace", 0x06, namespace, Transfer::FromDrive(4096))
    }

    /// Numbers of the namespaces that are there: up to 1024, ascending, 4 bytes each, ended by 0.
    #[must_use]
    pub fn active_namespaces() -> Self {
        let mut command = Self::new("Active Namespace List", 0x06, 0, Transfer::FromDrive(4096));
        command.dwords[0] = 0x02;
        command
    }

    /// Numbers of the namespaces that exist, attached to this controller or not; as [`Self::active_namespaces`].
    #[must_use]
    pub fn allocated_namespaces() -> Self {
        let mut command = Self::new("Allocated Namespace List", 0x06, 0, Transfer::FromDrive(4096));
        command.dwords[0] = 0x10;
        command
    }

    fn log_page(name: &'static str, page: u8, bytes: u32) -> Self {
        let mut command = Self::new(name, 0x02, ALL_NAMESPACES, Transfer::FromDrive(bytes));
        let dwords_below_top = bytes / 4 - 1; // The count of dwords is one less than meant.
        command.dwords[0] = u32::from(page) | (dwords_below_top & 0xffff) << 16;
        command.dwords[1] = dwords_below_top >> 16;
        command
    }

    /// SMART / Health Information of the whole controller.
    #[must_use]
    pub fn smart_log() -> Self {
        Self::log_page("SMART log", LOG_SMART, 512)
    }

    /// OCP's extended SMART log.
    #[must_use]
    pub fn ocp_smart_log() -> Self {
        Self::log_page("OCP SMART log", LOG_OCP_SMART, 512)
    }

    /// Sanitize Status, for [`SanitizeStatus`](crate::SanitizeStatus).
    #[must_use]
    pub fn sanitize_status() -> Self {
        Self::log_page("Sanitize Status log", LOG_SANITIZE, 512)
    }

    /// Current value of a feature.
    #[must_use]
    pub fn get_feature(feature: FeatureId) -> Self {
        // The transition table is the one feature of ours that comes as data.
        let transfer =
            if feature == FeatureId::AutonomousTransition { Transfer::FromDrive(256) } else { Transfer::None };
        let mut command = Self::new("Get Features", 0x0a, 0, transfer);
        command.dwords[0] = feature as u32;
        command
    }

    /// Set Features, Interrupt Coalescing, until the controller is reset.
    #[must_use]
    pub fn set_coalescing(set: Coalescing) -> Self {
        let mut command = Self::new("Set Features", 0x09, 0, Transfer::None);
        command.dwords[0] = FeatureId::Coalescing as u32;
        // Counted from 0, and in units of 100 us (Base, figure "Interrupt Coalescing").
        command.dwords[1] = u32::from(set.completions.saturating_sub(1) & 0xff) | ((set.wait_us / 100) & 0xff) << 8;
        command
    }

    /// Format NVM. Destroys all data of the namespace.
    #[must_use]
    pub fn format(request: FormatRequest) -> Self {
        let mut command = Self::new("Format NVM", 0x80, request.namespace, Transfer::None);
        let index = u32::from(request.format);
        command.dwords[0] = (index & 0xf)
            | u32::from(request.metadata_inline) << 4
            | u32::from(request.protection_type & 0b111) << 5
            | u32::from(request.protection_first) << 8
            | (request.erase as u32) << 9
            | (index >> 4 & 0b11) << 12;
        command.timeout_ms = request.timeout_ms;
        command
    }

    /// Sanitize. Destroys all data of the whole drive, and goes on after power loss; returns when it has begun. A drive
    /// that fails at it may be made to answer again by [`SanitizeAction::ExitFailure`] (Base, AUSE).
    #[must_use]
    pub fn sanitize(action: SanitizeAction) -> Self {
        const UNRESTRICTED_EXIT: u32 = 1 << 3;
        let mut command = Self::new("Sanitize", 0x84, 0, Transfer::None);
        command.dwords[0] = action as u32 | if action == SanitizeAction::ExitFailure { 0 } else { UNRESTRICTED_EXIT };
        command
    }
}

/// An I/O command that is issued one at a time by an ioctl (NVM 1.0, chapter 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoCommand {
    /// Reads so many logical blocks from the first on.
    Read {
        /// First block.
        first_block: u64,
        /// How many, 1 to 65,536.
        blocks: u32,
    },
    /// Deallocates so many logical blocks from the first on (Dataset Management).
    Deallocate {
        /// First block.
        first_block: u64,
        /// Number of blocks.
        blocks: u32,
    },
}

impl IoCommand {
    /// Opcode.
    #[must_use]
    pub fn opcode(self) -> u8 {
        match self {
            IoCommand::Read { .. } => 0x02,
            IoCommand::Deallocate { .. } => 0x09,
        }
    }

    /// Command dwords 10 to 15.
    #[must_use]
    pub fn dwords(self) -> [u32; 6] {
        match self {
            IoCommand::Read { first_block, blocks } => {
                [first_block as u32, (first_block >> 32) as u32, blocks.saturating_sub(1) & 0xffff, 0, 0, 0]
            }
            // One range (counted from 0), attribute Deallocate.
            IoCommand::Deallocate { .. } => [0, 1 << 2, 0, 0, 0, 0],
        }
    }

    /// The data of a [`Deallocate`](Self::Deallocate): one range.
    #[must_use]
    pub fn range(self) -> Option<[u8; 16]> {
        let IoCommand::Deallocate { first_block, blocks } = self else { return None };
        let mut range = [0; 16];
        range[4..8].copy_from_slice(&blocks.to_le_bytes());
        range[8..].copy_from_slice(&first_block.to_le_bytes());
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_page_asks_for_one_dword_less_than_it_wants() {
        let smart = AdminCommand::smart_log();
        assert_eq!((smart.opcode, smart.namespace, smart.dwords[0]), (0x02, 0xffff_ffff, 0x007f_0002));
        assert_eq!(AdminCommand::ocp_smart_log().dwords[0], 0x007f_00c0);
    }

    #[test]
    fn identify_names_what_by_its_structure_number() {
        assert_eq!(AdminCommand::identify_controller().dwords[0], 1);
        let namespace = AdminCommand::identify_namespace(7);
        assert_eq!((namespace.dwords[0], namespace.namespace), (0, 7));
        // The list begins above the number given.
        let list = AdminCommand::active_namespaces();
        assert_eq!((list.dwords[0], list.namespace), (2, 0));
        assert_eq!(AdminCommand::allocated_namespaces().dwords[0], 0x10);
    }

    #[test]
    fn a_format_splits_its_index_and_names_its_erase() {
        let request = FormatRequest {
            namespace: 1,
            format: 0x21,
            metadata_inline: false,
            protection_type: 0,
            protection_first: false,
            erase: SecureErase::Cryptographic,
            timeout_ms: 600_000,
        };
        let command = AdminCommand::format(request);
        // Format index bits 3:0 = 1, erase 2 in bits 11:9, index bits 5:4 = 2 in bits 13:12.
        assert_eq!((command.opcode, command.dwords[0]), (0x80, 1 | 2 << 9 | 2 << 12));
        assert_eq!((command.namespace, command.timeout_ms), (1, 600_000));
    }

    #[test]
    fn an_unchanged_format_is_the_one_that_the_page_tells() {
        let mut page = crate::identify::tests::namespace_page();
        page[29] = 0b1010; // type 2, in the first bytes
        let request = FormatRequest::unchanged(3, &page, SecureErase::UserData, 9).expect("a whole page");
        // Format 1, metadata inline in bit 4, protection 2 in bits 7:5, first in bit 8, erase 1 in bits 11:9.
        let command = AdminCommand::format(request);
        assert_eq!((command.namespace, command.dwords[0]), (3, 1 | 1 << 4 | 2 << 5 | 1 << 8 | 1 << 9));
        assert!(FormatRequest::unchanged(3, &page[..100], SecureErase::UserData, 9).is_err());
    }

    #[test]
    fn sanitize_and_features_carry_their_number() {
        let sanitize = AdminCommand::sanitize(SanitizeAction::BlockErase);
        assert_eq!((sanitize.opcode, sanitize.dwords[0], sanitize.transfer), (0x84, 2 | 1 << 3, Transfer::None));
        assert_eq!(AdminCommand::sanitize(SanitizeAction::ExitFailure).dwords[0], 1);
        let feature = AdminCommand::get_feature(FeatureId::Coalescing);
        assert_eq!((feature.opcode, feature.dwords[0], feature.transfer), (0x0a, 8, Transfer::None));
        let table = AdminCommand::get_feature(FeatureId::AutonomousTransition);
        assert_eq!(table.transfer, Transfer::FromDrive(256));
    }

    #[test]
    fn reads_count_blocks_from_zero_and_trims_carry_a_range() {
        let read = IoCommand::Read { first_block: 0x1_0000_0002, blocks: 8 };
        assert_eq!((read.opcode(), read.dwords()), (0x02, [2, 1, 7, 0, 0, 0]));
        let trim = IoCommand::Deallocate { first_block: 5, blocks: 16 };
        assert_eq!((trim.opcode(), trim.dwords()[1], read.range()), (0x09, 4, None));
        assert_eq!(trim.range(), Some([0, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]));
    }
}
