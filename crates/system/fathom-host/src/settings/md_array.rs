//! An array of Linux md that is there for a while: made through sysfs, without metadata, so that nothing of it is on its
//! members and a reboot forgets it (Documentation/admin-guide/md.rst, "md devices in sysfs").

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fathom_raid::Level;
use serde::{Deserialize, Serialize};

use super::SettingError;
use crate::module;
use crate::root::{Root, attribute, names_in};
use crate::system::code;
use crate::writing;

/// First part of the kernel names of such arrays; no other array is touched.
const NAME: &str = "md_fathom";
/// How long the kernel may take to let go of an array: udev looks at new devices, and holds them open meanwhile.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// What stands for no limit; the kernel counts in 32 bits.
const SPEED_MAX_KIB: u64 = 100 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// `near=2` (md.rst) and left-symmetric (drivers/md/raid5.h, ALGORITHM_LEFT_SYMMETRIC): as Fathom lays out its own.
const RAID10_NEAR_2: u32 = 0x102;
const LEFT_SYMMETRIC: u32 = 2;

/// An array of Linux md as it is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MdArray {
    /// Kernel name.
    pub device: String,
    /// Its level.
    pub level: Level,
    /// Bytes on one member before the next comes.
    pub chunk_bytes: u64,
    /// Device numbers (`259:3`) of the members by their places; `None` where one is missing.
    pub members: Vec<Option<String>>,
    /// Bytes used of each member, whole chunks.
    pub member_bytes: u64,
    /// Place of the member that comes in later, to be rebuilt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u32>,
}

impl MdArray {
    /// There is no such array.
    pub(crate) const NONE: &str = "none";
    /// It is there.
    pub(crate) const ACTIVE: &str = "active";
    /// An array of its name is there that is not it, or not yet.
    const OTHER: &str = "other";

    /// A kernel name that nothing has.
    #[must_use]
    pub fn free_name(root: &Root) -> String {
        let first = format!("{NAME}{}", std::process::id());
        let names = std::iter::once(first.clone()).chain((1..).map(|n| format!("{first}_{n}")));
        let mut free = names.filter(|name| !class_of(root, name).exists());
        free.next().unwrap_or(first)
    }

    /// Whether the name is of the kind that Fathom gives, and the rest what it writes.
    pub(super) fn is_sound(&self) -> bool {
        let is_number =
            |text: &str| text.split_once(':').is_some_and(|(a, b)| [a, b].iter().all(|n| n.parse::<u32>().is_ok()));
        let rest = self.device.strip_prefix(NAME);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'_'))
            && self.members.iter().flatten().all(|number| is_number(number))
    }

    pub(super) fn home(&self, root: &Root) -> PathBuf {
        class_of(root, &self.device).join("md")
    }

    /// What there is. One that lost members is still there.
    pub(super) fn read(&self, root: &Root) -> &'static str {
        let home = self.home(root);
        let value = |name: &str| attribute(&home.join(name));
        match value("array_state").as_deref() {
            None | Some("clear") => return MdArray::NONE,
            Some("inactive") => return MdArray::OTHER,
            Some(_) => {}
        }
        let is_ours = |slot: &str| {
            let Some(at) = slot.strip_prefix("rd").and_then(|at| at.parse::<usize>().ok()) else { return true };
            let number = attribute(&home.join(slot).join("block/dev"));
            self.members.get(at).is_some_and(|member| member.is_some() && *member == number)
        };
        let is_it = value("level").as_deref() == Some(self.level.as_str())
            && value("chunk_size").and_then(|v| v.parse().ok()) == Some(self.chunk_bytes)
            && names_in(&home).iter().all(|name| is_ours(name));
        if is_it { MdArray::ACTIVE } else { MdArray::OTHER }
    }

    /// Makes it, or takes it away.
    pub(super) fn write(&self, root: &Root, value: &str) -> io::Result<()> {
        if value != MdArray::ACTIVE {
            return self.stop(root);
        }
        let made = self.make(root);
        if made.is_err() {
            // Half of one is none that anybody wants; what it was is told by the error of making it.
            let _ = self.stop(root);
        }
        made
    }

    fn make(&self, root: &Root) -> io::Result<()> {
        let maker = root.join("sys/module/md_mod/parameters/new_array");
        module::load(root, "md_mod", &maker);
        put(&maker, &self.device)?;
        let home = self.home(root);
        put(&home.join("metadata_version"), "none")?;
        put(&home.join("level"), self.level.as_str())?;
        put(&home.join("raid_disks"), &self.members.len().to_string())?;
        put(&home.join("chunk_size"), &self.chunk_bytes.to_string())?;
        match self.level {
            Level::Raid0 => {}
            Level::Raid10 => put(&home.join("layout"), &RAID10_NEAR_2.to_string())?,
            Level::Raid5 | Level::Raid6 => put(&home.join("layout"), &LEFT_SYMMETRIC.to_string())?,
        }
        for at in (0..self.members.len()).filter(|at| Some(*at as u32) != self.late) {
            self.add(root, at)?;
        }
        if self.level != Level::Raid0 {
            put(&home.join("component_size"), &self.member_kib())?;
            // What is on the members is taken as right, as by `mdadm --assume-clean`.
            put(&home.join("resync_start"), "none")?;
        }
        put(&home.join("array_state"), "active")
    }

    fn member_kib(&self) -> String {
        (self.member_bytes >> 10).to_string()
    }

    /// Gives it the member of that place.
    fn add(&self, root: &Root, at: usize) -> io::Result<()> {
        let Some(Some(number)) = self.members.get(at) else { return Ok(()) };
        let home = self.home(root);
        // The kernel's own claim: it is refused while anybody else has one.
        put(&home.join("new_dev"), number)?;
        let device = std::fs::canonicalize(root.join("sys/dev/block").join(number))?;
        let name = device.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let member = home.join(format!("dev-{name}"));
        put(&member.join("size"), &self.member_kib())?;
        put(&member.join("slot"), &at.to_string())
    }

    /// Has the late member rebuilt, at so many bytes of it a second, or as fast as can be.
    pub(crate) fn rebuild(&self, root: &Root, bytes_per_s: Option<u64>) -> io::Result<()> {
        let Some(late) = self.late else { return Ok(()) };
        let home = self.home(root);
        // Above the least speed md gives way to other load (md.rst, sync_speed_min): what is asked for is both.
        let kib = bytes_per_s.map_or(SPEED_MAX_KIB, |bytes| (bytes >> 10).clamp(1, SPEED_MAX_KIB)).to_string();
        // The least must never be above the most.
        for (name, value) in [("sync_speed_min", "1"), ("sync_speed_max", &kib), ("sync_speed_min", &kib)] {
            put(&home.join(name), value)?;
        }
        self.add(root, late as usize)?;
        put(&home.join("sync_action"), "recover")
    }

    /// Bytes of the late member that are rebuilt; `None`: all of them, or none of it is under way. From /proc/mdstat, because
    /// `sync_completed` moves by a sixteenth of the member at a time (drivers/md/md.c, md_do_sync).
    pub(crate) fn rebuilt_bytes(&self, root: &Root) -> Option<u64> {
        let text = std::fs::read_to_string(root.join("proc/mdstat")).ok()?;
        rebuilt_kib(&text, &self.device).map(|kib| kib << 10)
    }

    fn stop(&self, root: &Root) -> io::Result<()> {
        let state = self.home(root).join("array_state");
        let until = Instant::now() + GONE_WITHIN;
        loop {
            let busy = match put(&state, "clear") {
                Ok(()) => None,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                // Gone between the opening and the writing.
                Err(error) if error.raw_os_error() == Some(code::ENODEV) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(code::EBUSY) => Some(error),
                Err(error) => return Err(error),
            };
            match busy {
                // The kernel removes the device a little later; its name and its members are free then.
                None if self.read(root) == MdArray::NONE && !state.exists() => return Ok(()),
                Some(error) if Instant::now() > until => return Err(error),
                None if Instant::now() > until => return Ok(()),
                _ => thread::sleep(LOOK_EVERY),
            }
        }
    }
}

fn class_of(root: &Root, device: &str) -> PathBuf {
    root.join("sys/class/block").join(device)
}

/// One write call: the kernel takes each as a whole value.
fn put(path: &Path, value: &str) -> io::Result<()> {
    writing::attribute(path)?.write_all(value.as_bytes())
}

/// `10368` of `[===>....]  recovery = 15.5% (10368/65536) finish=0.0min speed=10368K/sec`, in the lines of that array.
fn rebuilt_kib(mdstat: &str, device: &str) -> Option<u64> {
    let is_of = |line: &str| line.split_once(" : ").is_some_and(|(name, _)| name == device);
    let mut lines = mdstat.lines().skip_while(|line| !is_of(line)).skip(1);
    let line = lines.by_ref().take_while(|line| line.starts_with(' ')).find(|line| line.contains("recovery = "))?;
    line.split_once('(')?.1.split_once('/')?.0.parse().ok()
}

/// The error of an array that could not be made or taken away.
pub(super) fn error_of(setting: &super::Setting, value: &str, source: io::Error) -> SettingError {
    match (setting, source.kind()) {
        (super::Setting::MdArray(_), io::ErrorKind::NotFound) if value == MdArray::ACTIVE => SettingError::Missing {
            what: setting.message(),
            path: PathBuf::from("/sys/module/md_mod/parameters/new_array"),
        },
        _ => SettingError::Write { setting: setting.clone(), value: value.to_owned(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    fn array() -> MdArray {
        MdArray {
            device: "md_fathom77".to_owned(),
            level: Level::Raid5,
            chunk_bytes: 65536,
            members: vec![Some("8:0".to_owned()), Some("8:16".to_owned()), None],
            member_bytes: 1 << 20,
            late: None,
        }
    }

    #[test]
    fn an_array_is_ours_by_its_shape_and_its_members_also_where_it_lost_one() {
        let tree = Tree::new();
        assert_eq!(array().read(&tree.root()), MdArray::NONE);
        let home = "sys/devices/virtual/block/md_fathom77";
        tree.disk("md_fathom77", "9:511", 2048, "virtual");
        let set = |name: &str, value: &str| {
            tree.file(&format!("{home}/md/{name}"), value);
        };
        set("array_state", "clean\n");
        set("level", "raid5\n");
        set("chunk_size", "65536\n");
        set("rd0/block/dev", "8:0\n");
        set("rd1/block/dev", "8:16\n");
        let root = tree.root();
        assert_eq!(array().read(&root), MdArray::ACTIVE);
        let lost = MdArray {
            members: vec![Some("8:0".to_owned()), Some("8:16".to_owned()), Some("8:32".to_owned())],
            ..array()
        };
        assert_eq!(lost.read(&root), MdArray::ACTIVE);
        let others = MdArray { members: vec![Some("8:0".to_owned()), None, None], ..array() };
        assert_eq!(others.read(&root), MdArray::OTHER, "a member that is not of it");
        assert_eq!(MdArray { chunk_bytes: 4096, ..array() }.read(&root), MdArray::OTHER);
        set("array_state", "inactive\n");
        assert_eq!(array().read(&root), MdArray::OTHER, "not yet whole");
        set("array_state", "clear\n");
        assert_eq!(array().read(&root), MdArray::NONE);
    }

    #[test]
    fn how_far_a_rebuild_is_stands_in_the_lines_of_its_array() {
        let text = "Personalities : [raid6] [raid5] [raid4] \n\
            md0 : active raid5 sdd[3] sdb[1] sda[0]\n      131072 blocks level 5 [3/2] [UU_]\n      \
            [>....]  recovery =  1.5% (983/65536) finish=0.0min speed=9K/sec\n      \n\
            md_fathom77 : active raid5 sdg[3] sdf[1] sde[0]\n      131072 blocks level 5 [3/2] [UU_]\n      \
            [===>..]  recovery = 15.5% (10368/65536) finish=0.0min speed=10368K/sec\n      \nunused devices: <none>\n";
        assert_eq!(rebuilt_kib(text, "md_fathom77"), Some(10368));
        assert_eq!(rebuilt_kib(text, "md0"), Some(983));
        assert_eq!(rebuilt_kib(text, "md_fathom7"), None);
    }

    #[test]
    fn a_journal_names_only_arrays_of_fathom() {
        assert!(array().is_sound());
        for device in ["md0", "md_fathom", "md_fathom../..", "md_home", "md_fathom7/x"] {
            assert!(!MdArray { device: device.to_owned(), ..array() }.is_sound(), "{device}");
        }
        assert!(!MdArray { members: vec![Some("/dev/sda".to_owned())], ..array() }.is_sound());
    }
}
