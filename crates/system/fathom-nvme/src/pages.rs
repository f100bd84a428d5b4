//! The pages of one controller as bytes: read from a drive, kept as files of a captured tree, read back from them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bytes::ShortPage;
use crate::command::AdminCommand;
use crate::device::{Device, DeviceError};
use crate::features::{
    AutonomousTransition, Coalescing, FeatureId, ThermalManagement, autonomous_transitions, coalescing, queue_counts,
    thermal_management, write_cache_enabled,
};
use crate::identify::{Controller, Namespace};
use crate::ocp::OcpSmartLog;
use crate::smart::SmartLog;

/// Files of a captured controller: name and content.
pub type PageFiles = Vec<(String, Vec<u8>)>;

/// Longest page that is read from a file: more is not a page.
const PAGE_BYTES_MAX: u64 = 4096;

/// Namespaces that are asked for; drives with more are made for virtual machines.
const NAMESPACES_MAX: usize = 16;

/// Raw answers of one controller. What a drive refuses is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdminPages {
    identify: Vec<u8>,
    namespaces: BTreeMap<u32, Vec<u8>>,
    smart: Option<Vec<u8>>,
    ocp_smart: Option<Vec<u8>>,
    features: BTreeMap<u8, u32>,
    transitions: Option<Vec<u8>>,
}

impl AdminPages {
    /// Asks the controller at `path` (`/dev/nvme0`) for everything, and for its first 16 namespaces.
    ///
    /// # Errors
    /// [`DeviceError`] when it cannot be opened or does not identify itself; anything else it refuses is left out.
    pub fn read(path: &Path) -> Result<Self, DeviceError> {
        let device = Device::open(path)?;
        AdminPages::by(|command| device.admin(command))
    }

    /// The same by whatever carries admin commands out: `ask` gives a command's data and dword 0 of its completion.
    ///
    /// # Errors
    /// What `ask` says of Identify Controller; anything else that is refused is left out.
    pub fn by<E>(ask: impl Fn(&AdminCommand) -> Result<(Vec<u8>, u32), E>) -> Result<Self, E> {
        let page = |command: AdminCommand| ask(&command).map(|(data, _)| data);
        let mut pages = AdminPages { identify: page(AdminCommand::identify_controller())?, ..AdminPages::default() };
        let list = page(AdminCommand::active_namespaces()).unwrap_or_default();
        for id in namespace_ids(&list).into_iter().take(NAMESPACES_MAX) {
            if let Ok(data) = page(AdminCommand::identify_namespace(id)) {
                pages.namespaces.insert(id, data);
            }
        }
        pages.smart = page(AdminCommand::smart_log()).ok();
        pages.ocp_smart =
            page(AdminCommand::ocp_smart_log()).ok().filter(|p| matches!(OcpSmartLog::decode(p), Ok(Some(_))));
        for feature in FeatureId::ALL {
            let Ok((data, value)) = ask(&AdminCommand::get_feature(feature)) else { continue };
            pages.features.insert(feature as u8, value);
            if feature == FeatureId::AutonomousTransition {
                pages.transitions = Some(data);
            }
        }
        Ok(pages)
    }

    /// Takes out what identifies this one drive: serial number, GUIDs, NQN.
    pub fn anonymize(&mut self) {
        Controller::anonymize(&mut self.identify);
        self.namespaces.values_mut().for_each(|page| Namespace::anonymize(page));
    }

    /// As files for a captured tree: `identify.bin`, `namespace-1.bin`, `smart.bin`, `ocp-smart.bin`,
    /// `feature-08.bin` (the value, 4 bytes, little-endian), `transitions.bin`.
    #[must_use]
    pub fn files(&self) -> PageFiles {
        let mut files = vec![("identify.bin".to_owned(), self.identify.clone())];
        files.extend(self.namespaces.iter().map(|(id, page)| (format!("namespace-{id}.bin"), page.clone())));
        let optional =
            [("smart.bin", &self.smart), ("ocp-smart.bin", &self.ocp_smart), ("transitions.bin", &self.transitions)];
        files.extend(optional.into_iter().filter_map(|(name, page)| Some((name.to_owned(), page.clone()?))));
        files.extend(
            self.features.iter().map(|(id, value)| (format!("feature-{id:02x}.bin"), value.to_le_bytes().to_vec())),
        );
        files
    }

    /// Reads the files of [`files`](Self::files) from `folder`; `None` without `identify.bin`. Other files are ignored.
    #[must_use]
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let page = |name: &str| {
            let path = folder.join(name);
            let meta = std::fs::metadata(&path).ok()?;
            (meta.is_file() && meta.len() <= PAGE_BYTES_MAX).then(|| std::fs::read(path).ok())?
        };
        let mut pages = AdminPages {
            identify: page("identify.bin")?,
            smart: page("smart.bin"),
            ocp_smart: page("ocp-smart.bin"),
            transitions: page("transitions.bin"),
            ..AdminPages::default()
        };
        for feature in FeatureId::ALL {
            let value = page(&format!("feature-{:02x}.bin", feature as u8)).and_then(|b| b.first_chunk().copied());
            pages.features.extend(value.map(|bytes| (feature as u8, u32::from_le_bytes(bytes))));
        }
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.strip_prefix("namespace-").and_then(|n| n.strip_suffix(".bin")).and_then(|n| n.parse().ok());
            pages.namespaces.extend(id.zip(page(&name)));
        }
        Some(pages)
    }

    /// What the controller says of itself.
    ///
    /// # Errors
    /// [`ShortPage`] from a damaged capture.
    pub fn controller(&self) -> Result<Controller, ShortPage> {
        Controller::decode(&self.identify)
    }

    /// Numbers of the namespaces that were read.
    pub fn namespace_ids(&self) -> impl Iterator<Item = u32> {
        self.namespaces.keys().copied()
    }

    /// A namespace, when it was asked for and could be read.
    #[must_use]
    pub fn namespace(&self, id: u32) -> Option<Namespace> {
        Namespace::decode(self.namespaces.get(&id)?).ok()
    }

    /// Health.
    #[must_use]
    pub fn smart(&self) -> Option<SmartLog> {
        SmartLog::decode(self.smart.as_deref()?).ok()
    }

    /// Extended health, of drives that follow OCP.
    #[must_use]
    pub fn ocp_smart(&self) -> Option<OcpSmartLog> {
        OcpSmartLog::decode(self.ocp_smart.as_deref()?).ok().flatten()
    }

    fn feature(&self, id: FeatureId) -> Option<u32> {
        self.features.get(&(id as u8)).copied()
    }

    /// Power state it is in.
    #[must_use]
    pub fn power_state(&self) -> Option<u8> {
        self.feature(FeatureId::PowerManagement).map(|value| (value & 0x1f) as u8)
    }

    /// Whether the volatile write cache is on.
    #[must_use]
    pub fn write_cache(&self) -> Option<bool> {
        self.feature(FeatureId::WriteCache).map(write_cache_enabled)
    }

    /// Submission and completion queues granted for I/O.
    #[must_use]
    pub fn queues(&self) -> Option<(u32, u32)> {
        self.feature(FeatureId::QueueCount).map(queue_counts)
    }

    /// Interrupt coalescing.
    #[must_use]
    pub fn coalescing(&self) -> Option<Coalescing> {
        self.feature(FeatureId::Coalescing).map(coalescing)
    }

    /// Thermal management by the host.
    #[must_use]
    pub fn thermal_management(&self) -> Option<ThermalManagement> {
        self.feature(FeatureId::ThermalManagement).map(thermal_management)
    }

    /// Power state transitions in force; empty when they are off; `None` when the drive has none.
    #[must_use]
    pub fn transitions(&self) -> Option<Vec<AutonomousTransition>> {
        let enabled = self.feature(FeatureId::AutonomousTransition)? & 1 != 0;
        Some(if enabled { autonomous_transitions(self.transitions.as_deref().unwrap_or_default()) } else { Vec::new() })
    }
}

/// Numbers in a list of namespaces, up to its end (Base 2.0, Identify CNS 02h and 10h).
#[must_use]
pub fn namespace_ids(list: &[u8]) -> Vec<u32> {
    let numbers = list.chunks_exact(4).filter_map(|bytes| bytes.first_chunk().copied().map(u32::from_le_bytes));
    numbers.take_while(|id| *id != 0).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identify::tests::{controller_page, namespace_page};
    use fathom_message::Say as _;

    fn pages() -> AdminPages {
        AdminPages {
            identify: controller_page().to_vec(),
            namespaces: [(1, namespace_page().to_vec()), (5, vec![0; 4096])].into(),
            smart: Some(vec![0; 512]),
            ocp_smart: Some(crate::ocp::tests::page(1 << 40).to_vec()),
            features: [(0x02, 3), (0x06, 1), (0x08, 0x0103), (0x0c, 1)].into(),
            transitions: Some(vec![0; 256]),
        }
    }

    #[test]
    fn pages_survive_being_kept_as_files() {
        let folder = tempfile::tempdir().expect("temp dir");
        let pages = pages();
        for (name, bytes) in pages.files() {
            std::fs::write(folder.path().join(name), bytes).expect("writes");
        }
        let back = AdminPages::from_folder(folder.path()).expect("identify.bin is there");
        assert_eq!(back, pages);
        assert_eq!((back.power_state(), back.write_cache()), (Some(3), Some(true)));
        assert_eq!(back.coalescing().map(|c| (c.completions, c.wait_us)), Some((4, 100)));
        assert_eq!((back.transitions(), back.queues()), (Some(Vec::new()), None));
        assert_eq!(back.ocp_smart().map(|o| o.nand_written_bytes), Some(1 << 40));
    }

    #[test]
    fn a_capture_for_others_names_no_drive() {
        let mut pages = pages();
        assert_eq!(pages.controller().expect("whole page").serial, "S64GNE0R123");
        pages.anonymize();
        assert_eq!(pages.controller().expect("whole page").serial, "");
        assert_eq!(pages.controller().expect("whole page").model, "EXAMPLE SSD 3.2TB");
        let serial = b"S64GNE0R123";
        for (name, bytes) in pages.files() {
            assert!(!bytes.windows(serial.len()).any(|w| w == serial), "{name} names the drive");
        }
    }

    #[test]
    fn a_list_of_namespaces_ends_at_zero() {
        assert_eq!(namespace_ids(&[1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]), [1, 5]);
        assert_eq!(namespace_ids(&[1, 0, 0]), []);
        assert_eq!(pages().namespace_ids().collect::<Vec<_>>(), [1, 5]);
    }

    #[test]
    fn a_folder_without_identify_is_no_capture() {
        let folder = tempfile::tempdir().expect("temp dir");
        assert_eq!(AdminPages::from_folder(folder.path()), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
            let _ = Controller::decode(&bytes);
            let _ = Namespace::decode(&bytes).map(|n| (n.block_bytes(), n.metadata_bytes()));
            let _ = SmartLog::decode(&bytes);
            let _ = OcpSmartLog::decode(&bytes);
            let _ = autonomous_transitions(&bytes);
            let mut copy = bytes;
            Controller::anonymize(&mut copy);
            Namespace::anonymize(&mut copy);
        }

        #[test]
        fn no_word_makes_a_feature_panic(word: u32, field: u16) {
            let _ = (coalescing(word), queue_counts(word), thermal_management(word));
            prop_assert!(!crate::Status::of(field).message().id().is_empty());
        }
    }
}
