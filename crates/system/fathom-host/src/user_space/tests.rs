//! Taking drives and giving them back, on a tree whose files answer as the kernel's do.

mod without_iommu;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use fathom_language::english;
use fathom_message::Say as _;

use super::*;
use crate::root::tree::Tree;
use crate::settings::{Outcome, Which, pending, restore_all, restore_driver_of};

const ADDRESS: &str = "0000:41:00.0";
const FUNCTION: &str = "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0";
const BUS: &str = "pci0000:40/0000:40:01.0/0000:41:00.0/nvme/nvme0";
const NODE_1: &str = "sys/devices/system/node/node1/hugepages/hugepages-2048kB";
const MADE_UP: &str = "sys/kernel/iommu_groups/9";
/// File of a function: the drive was pulled, and the kernel waits until nobody drives it.
const PULLED: &str = "pulled";
const SYSTEM: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n";

/// A drive of one namespace on node 1, alone with its port in IOMMU group 7; `vfio-pci` is loaded.
fn machine() -> Tree {
    let tree = Tree::new();
    tree.disk("vda", "254:0", 2048, "pci0/virtio1")
        .disk("nvme0n1", "259:0", 2048, BUS)
        .file(&format!("sys/devices/{BUS}/block/nvme0n1/device/serial"), "S1\n")
        .file(&format!("sys/devices/{BUS}/serial"), "S1   \n")
        .file(&format!("sys/devices/{BUS}/model"), "FAST DRIVE\n")
        .file(&format!("{FUNCTION}/class"), "0x010802\n")
        .file(&format!("{FUNCTION}/vendor"), "0x8086\n")
        .file(&format!("{FUNCTION}/numa_node"), "1\n")
        .file(&format!("{FUNCTION}/driver_override"), "(null)\n")
        .link(&format!("{FUNCTION}/driver"), "../../../../bus/pci/drivers/nvme")
        .link(&format!("{FUNCTION}/iommu_group"), "../../../../kernel/iommu_groups/7")
        .link("sys/bus/pci/devices/0000:41:00.0", "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0")
        .file("sys/bus/pci/drivers_probe", "")
        .file("sys/bus/pci/drivers/nvme/unbind", "")
        .file("sys/bus/pci/drivers/vfio-pci/unbind", "")
        .folder("sys/kernel/iommu_groups/7/devices/0000:41:00.0")
        .file("proc/self/mountinfo", SYSTEM)
        .file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
        .file("proc/sys/kernel/random/boot_id", "boot-1\n")
        .file("dev/vda", "")
        .file("dev/nvme0n1", "")
        .folder("dev/vfio");
    for (number, pages) in [(0, "512"), (1, "8")] {
        let home = format!("sys/devices/system/node/node{number}/hugepages/hugepages-2048kB");
        tree.file(&format!("{home}/nr_hugepages"), format!("{pages}\n")).file(&format!("{home}/free_hugepages"), "3\n");
    }
    member(&tree, "0000:40:01.0", "0x060400", Some("pcieport"));
    tree
}

/// Another function of the group.
fn member(tree: &Tree, address: &str, class: &str, driver: Option<&str>) {
    tree.folder(&format!("sys/kernel/iommu_groups/7/devices/{address}"))
        .file(&format!("sys/bus/pci/devices/{address}/class"), format!("{class}\n"));
    if let Some(driver) = driver {
        tree.link(&format!("sys/bus/pci/devices/{address}/driver"), &format!("../../drivers/{driver}"));
    }
}

/// The kernel: follows what is written to the files of the PCI bus.
struct Kernel {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Kernel {
    fn of(tree: &Tree) -> Kernel {
        let (root, ends) = (tree.root(), Arc::new(AtomicBool::new(false)));
        let seen = ends.clone();
        let work = move || {
            while !seen.load(Ordering::Relaxed) {
                follow(&root);
                thread::sleep(Duration::from_millis(1));
            }
        };
        Kernel { ends, thread: Some(thread::spawn(work)) }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().expect("runs").join().expect("no panic");
    }
}

/// What was written to a file, once.
fn written(root: &Root, path: &str) -> bool {
    let is_asked = fs::read_to_string(root.join(path)).is_ok_and(|text| text == ADDRESS);
    if is_asked {
        fs::write(root.join(path), "").expect("emptied");
    }
    is_asked
}

fn follow(root: &Root) {
    let home = root.join(FUNCTION);
    for driver in ["nvme", "vfio-pci"] {
        if written(root, &format!("sys/bus/pci/drivers/{driver}/unbind")) {
            if home.join(PULLED).exists() {
                remove(root);
                return;
            }
            let_go(root);
        }
    }
    if written(root, "sys/bus/pci/drivers_probe") {
        let driver = crate::settings::override_of(&home).unwrap_or_else(|| "nvme".to_owned());
        if driver == "vfio-pci" {
            let group = home.join("iommu_group");
            if !group.exists() {
                // VFIO makes a group up (drivers/vfio/group.c, vfio_noiommu_group_alloc).
                symlink(root.join(MADE_UP), &group).expect("link");
            }
            fs::write(crate::settings::group_node(root, &home).expect("a group"), "").expect("node");
        } else {
            fs::rename(home.join("gone"), home.join("nvme")).expect("controller");
            for name in ["sys/block", "sys/class/block"] {
                symlink(root.join(format!("sys/devices/{BUS}/block/nvme0n1")), root.join(name).join("nvme0n1"))
                    .expect("link");
            }
        }
        symlink(root.join("sys/bus/pci/drivers").join(driver), home.join("driver")).expect("link");
    }
}

/// Removes a drive that was pulled, now that nobody drives it. A probe of it then fails.
fn remove(root: &Root) {
    fs::remove_file(root.join("sys/bus/pci/drivers_probe")).expect("was there");
    fs::remove_file(root.join("sys/bus/pci/devices").join(ADDRESS)).expect("was there");
    fs::remove_dir_all(root.join(FUNCTION)).expect("was there");
}

fn let_go(root: &Root) {
    let home = root.join(FUNCTION);
    if crate::settings::driver_of(&home).as_deref() == Some("nvme") {
        fs::rename(home.join("nvme"), home.join("gone")).expect("controller");
        for name in ["sys/block", "sys/class/block"] {
            fs::remove_file(root.join(name).join("nvme0n1")).expect("link");
        }
    } else {
        fs::remove_file(crate::settings::group_node(root, &home).expect("a group")).expect("node");
        if home.join("iommu_group/name").exists() {
            fs::remove_file(home.join("iommu_group")).expect("link");
        }
    }
    fs::remove_file(home.join("driver")).expect("bound");
}

/// A machine with its kernel, and a folder for journals.
struct Place {
    tree: Tree,
    dir: tempfile::TempDir,
    _kernel: Kernel,
}

const S1: &[&str] = &["S1"];

impl Place {
    fn new() -> Place {
        let tree = machine();
        Place { _kernel: Kernel::of(&tree), tree, dir: tempfile::tempdir().expect("temp dir") }
    }

    fn root(&self) -> Root {
        self.tree.root()
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.root(), self.dir.path(), "fathom run")
    }

    fn kept(&self) -> Journal {
        Journal::open_kept(&self.root(), self.dir.path(), "fathom nvme bind")
    }

    fn take(&self, journal: &Journal, pages: u64) -> Result<UserSpaceDrive, UserSpaceError> {
        take(&self.tree, journal, S1, pages)
    }

    /// Driver, whether the group has a node, whether the block device is there, large pages of node 1.
    fn state(&self) -> (Option<String>, bool, bool, String) {
        let root = self.root();
        let is_there = root.join("sys/block/nvme0n1").exists();
        let pages = fs::read_to_string(root.join(NODE_1).join("nr_hugepages")).expect("pages");
        let driver = crate::settings::driver_of(&root.join(FUNCTION));
        (driver, root.join("dev/vfio/7").exists(), is_there, pages.trim().to_owned())
    }

    fn is_as_it_was(&self) {
        assert_eq!(self.state(), (Some("nvme".to_owned()), false, true, "8".to_owned()));
        assert_eq!(crate::settings::override_of(&self.root().join(FUNCTION)), None);
        assert!(pending(self.dir.path()).pending.is_empty());
    }

    fn is_bound(&self, pages: &str) {
        assert_eq!(self.state(), (Some("vfio-pci".to_owned()), true, false, pages.to_owned()));
    }
}

fn take(tree: &Tree, journal: &Journal, serials: &[&str], pages: u64) -> Result<UserSpaceDrive, UserSpaceError> {
    let serials: Vec<String> = serials.iter().map(|&serial| serial.to_owned()).collect();
    let allow = AllowUnbind { serials: &serials, without_iommu: WithoutIommu::Refuse };
    UserSpaceDrive::take(&tree.root(), journal, ADDRESS, &allow, None, pages)
}

#[test]
fn a_drive_is_taken_for_a_while_and_everything_comes_back() {
    let place = Place::new();
    let journal = place.journal();
    let drive = place.take(&journal, 16).expect("is free");
    // Five of eight pages are in use.
    place.is_bound("21");
    assert_eq!((drive.address(), drive.serial(), drive.model()), (ADDRESS, Some("S1"), Some("FAST DRIVE")));
    assert_eq!((drive.numa_node(), drive.group().number, drive.judged().len()), (Some(1), 7, 1));
    assert_eq!(drive.group().node, Path::new("/dev/vfio/7"));
    let changes: Vec<(String, &str, &str)> =
        drive.done().iter().map(|done| (done.setting.to_string(), done.from.as_str(), done.to.as_str())).collect();
    let hugepages = "node1/hugepages-2048kB".to_owned();
    assert_eq!(changes, [(hugepages, "8", "21"), ("0000:41:00.0/driver".to_owned(), "nvme", "vfio-pci")]);
    drive.give_back().expect("comes back");
    place.is_as_it_was();
    // Dropping it does the same.
    drop(place.take(&journal, 0).expect("is free"));
    assert!(journal.failures().is_empty());
    place.is_as_it_was();
}

#[test]
fn a_drive_that_disappears_while_it_is_given_back_leaves_nothing_to_restore() {
    let place = Place::new();
    let drive = place.take(&place.journal(), 0).expect("is free");
    place.tree.file(&format!("{FUNCTION}/{PULLED}"), "");
    drive.give_back().expect("there is no drive to give back");
    assert!(!place.root().join(FUNCTION).exists());
    assert!(pending(place.dir.path()).pending.is_empty());
}

#[test]
fn a_drive_that_may_be_written_is_taken_under_the_consent_to_that() {
    let place = Place::new();
    place.tree.file("dev/nvme0n1", vec![0; 1 << 20]);
    let serials = ["S1".to_owned()];
    let permit = crate::testing::destroying(&serials);
    let consent = crate::check_write_target(&place.root(), Path::new(ADDRESS), &permit).expect("is blank");
    let allow = AllowUnbind { serials: &serials, without_iommu: WithoutIommu::Refuse };
    let take =
        |place: &Place| UserSpaceDrive::take(&place.root(), &place.journal(), ADDRESS, &allow, Some(&consent), 0);
    take(&place).expect("is free").give_back().expect("comes back");
    // A second namespace that was not judged with it is judged now.
    place.tree.disk("nvme0n2", "259:9", 2048, BUS).file("dev/nvme0n2", "");
    place.tree.file("proc/self/mountinfo", format!("{SYSTEM}28 27 259:9 / /data rw - xfs /dev/nvme0n2 rw\n"));
    let error = take(&place).expect_err("mounted");
    assert_eq!(error.message().id(), "guard-mounted");
}

#[test]
fn a_run_that_was_killed_at_any_moment_is_undone_by_restore() {
    // What the kernel has done when the run dies, after the change is written down.
    let moments: [fn(&Place); 4] = [
        |_| {},
        |place| let_go(&place.root()),
        |place| {
            let_go(&place.root());
            fs::write(place.root().join(FUNCTION).join("driver_override"), "\n").expect("written");
        },
        |place| {
            let_go(&place.root());
            fs::write(place.root().join(FUNCTION).join("driver_override"), "\n").expect("written");
            fs::write(place.root().join("sys/bus/pci/drivers_probe"), ADDRESS).expect("written");
            assert!(wait(Duration::from_secs(10), || place.root().join("sys/block/nvme0n1").exists()));
            assert!(wait(Duration::from_secs(10), || driver_is_there(place)));
            fs::write(place.root().join(FUNCTION).join("driver_override"), "vfio-pci\n").expect("written");
        },
    ];
    for moment in moments {
        let place = Place::new();
        let journal = place.journal();
        place.take(&journal, 16).expect("is free").keep();
        drop(journal);
        moment(&place);
        let restoration = restore_all(&place.root(), place.dir.path(), Which::Abandoned).expect("reads");
        assert!(restoration.settings.iter().all(|r| matches!(r.outcome, Outcome::Restored)), "{restoration:?}");
        place.is_as_it_was();
    }
}

fn driver_is_there(place: &Place) -> bool {
    crate::settings::driver_of(&place.root().join(FUNCTION)).is_some()
}

#[test]
fn a_drive_bound_by_hand_stays_serves_runs_and_is_known_by_its_serial() {
    let place = Place::new();
    place.take(&place.kept(), 16).expect("is free").keep();
    assert!(restore_all(&place.root(), place.dir.path(), Which::Abandoned).expect("reads").settings.is_empty());
    let bound = bound_by_fathom(place.dir.path(), ADDRESS).expect("is in the journal");
    assert_eq!((bound.serial.as_deref(), bound.command.as_str(), bound.alive), (Some("S1"), "fathom nvme bind", false));
    let drive = place.take(&place.journal(), 0).expect("is bound");
    assert_eq!((drive.serial(), drive.judged().len(), drive.done().len()), (Some("S1"), 0, 0));
    drive.give_back().expect("was not taken");
    place.is_bound("21");
    // Somebody uses it.
    place.tree.file("proc/77/comm", "qemu-system-x86\n").link("proc/77/fd/5", "../../../dev/vfio/7");
    place.tree.file("proc/77/fdinfo/5", "flags:\t02100002\n");
    let error = place.take(&place.journal(), 0).expect_err("in use");
    assert_eq!(error.message().id(), "bind-group-in-use");
    let error = unbind(&place.root(), place.dir.path(), "S1").expect_err("in use");
    assert_eq!(error.message().id(), "bind-group-in-use");
    place.is_bound("21");
    let restoration = restore_driver_of(&place.root(), place.dir.path(), ADDRESS).expect("reads");
    let failed = |r: &crate::settings::Restored| match &r.outcome {
        Outcome::Failed(error) => Some(error.message().id().to_owned()),
        _ => None,
    };
    assert_eq!(restoration.settings.iter().find_map(failed).as_deref(), Some("setting-in-use"));
    assert_eq!(place.state().0.as_deref(), Some("vfio-pci"), "the kernel would wait for ever");
    fs::remove_file(place.root().join("proc/77/fd/5")).expect("closed");
    restore_driver_of(&place.root(), place.dir.path(), ADDRESS).expect("reads");
    place.is_as_it_was();
    assert!(restore_driver_of(&place.root(), place.dir.path(), ADDRESS).expect("reads").settings.is_empty());
}

#[test]
fn a_journal_gives_drives_to_the_kernel_alone() {
    let place = Place::new();
    let owner =
        r#"{"line":"owner","version":1,"pid":7,"boot_id":"boot-1","command":"x","started_unix_ns":1,"kept":false}"#;
    let line = |address: &str, before: &str, from: &str| {
        let driver = format!(
            r#"{{"kind":"pci_driver","address":"{address}","serial":null,"model":null,"override_before":"{before}","namespaces":1}}"#
        );
        format!(r#"{{"line":"change","id":1,"setting":{driver},"bearer":null,"from":"{from}","to":"vfio-pci"}}"#)
    };
    for (address, before, from, sound) in [
        (ADDRESS, "nvme", "nvme", true),
        ("../../../etc", "nvme", "nvme", false),
        ("0000:41:00.0/..", "nvme", "nvme", false),
        (ADDRESS, "../x", "nvme", false),
        (ADDRESS, "nvme", "uio_pci_generic", false),
    ] {
        let text = format!("{owner}\n{}\n", line(address, before, from));
        fs::write(place.dir.path().join("settings-1-1.jsonl"), text).expect("journal");
        let listing = pending(place.dir.path());
        assert_eq!(
            (listing.pending.len(), listing.damaged.len()),
            if sound { (1, 0) } else { (0, 1) },
            "{address} {from}"
        );
    }
}

#[test]
fn binding_by_hand_needs_no_further_word_and_is_not_done_twice() {
    let place = Place::new();
    let bind = |name: &str| bind_by_hand(&place.root(), &place.kept(), name, 0, WithoutIommu::Refuse);
    let said = |error: UserSpaceError| english(&error.message());
    assert_eq!(said(bind("S9").expect_err("no such drive")), "there is no NVMe drive S9");
    let unbind_now = || unbind(&place.root(), place.dir.path(), "S1");
    let nothing = unbind_now().expect_err("the kernel has it");
    assert_eq!(nothing.message().id(), "bind-kernel-has-it");
    bind("/dev/nvme0n1").expect("is free").keep();
    for name in ["S1", "0000:41:00.0"] {
        let again = said(bind(name).expect_err("is bound"));
        assert_eq!(again, "0000:41:00.0 was taken from the kernel already, by `fathom nvme bind`");
    }
    // The kernel has forgotten the serial number; the journal has not.
    let unbound = unbind_now().expect("known by its serial");
    let names: Vec<&str> = unbound.devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!((unbound.drive.address.as_str(), names), (ADDRESS, vec!["nvme0n1"]));
    place.is_as_it_was();
    // A run that holds it gives it back itself.
    let journal = place.journal();
    let drive = place.take(&journal, 0).expect("is free");
    assert!(matches!(unbind_now(), Err(UserSpaceError::Setting(crate::settings::SettingError::Busy { .. }))));
    drop(drive);
    // Bound by somebody else.
    fs::remove_file(place.root().join(FUNCTION).join("driver")).expect("removed");
    place.tree.link(&format!("{FUNCTION}/driver"), "../../../../bus/pci/drivers/vfio-pci");
    let foreign = "0000:41:00.0 is bound to vfio-pci already, and it was not Fathom that did it";
    assert_eq!(said(bind(ADDRESS).expect_err("is bound")), foreign);
    assert!(matches!(unbind(&place.root(), place.dir.path(), ADDRESS), Err(UserSpaceError::NotBound { .. })));
}

#[test]
fn the_status_tells_who_has_a_drive_and_what_stands_in_the_way() {
    let place = Place::new();
    let read = || UserSpaceStatus::read(&place.root(), place.dir.path());
    let status = read();
    let [drive] = &status.functions[..] else { panic!("{status:?}") };
    assert!(drive.against.is_none() && drive.namespaces[0].1.is_none() && drive.access.is_none(), "{drive:?}");
    assert!(status.has_iommu && status.is_vfio_loaded);
    let pages: Vec<_> = status.large_pages.iter().map(|p| (p.node, p.page_bytes, p.pages, p.free)).collect();
    assert_eq!(pages, [(Some(0), 2 << 20, 512, 3), (Some(1), 2 << 20, 8, 3)]);
    assert_eq!(drive.function.group.as_ref().map(|group| group.others.len()), Some(1), "its port");

    place.take(&place.kept(), 0).expect("is free").keep();
    let status = read();
    let [drive] = &status.functions[..] else { panic!("{status:?}") };
    assert_eq!((drive.serial(), drive.model()), (Some("S1"), Some("FAST DRIVE")));
    assert_eq!((drive.access.clone(), drive.namespaces.len()), (Some(GroupAccess::Allowed), 0));
    assert!(matches!(drive.against, Some(UserSpaceError::AlreadyBound { .. })), "{drive:?}");
    unbind(&place.root(), place.dir.path(), "S1").expect("is bound");

    place.tree.file("proc/self/mountinfo", format!("{SYSTEM}28 27 259:0 / /data rw - xfs /dev/nvme0n1 rw\n"));
    let status = read();
    let why = status.functions[0].against.as_ref().map(|error| error.message().id().to_owned());
    assert_eq!(why.as_deref(), Some("guard-mounted"));
    member(&place.tree, "0000:41:00.1", "0x020000", Some("mlx5_core"));
    let status = read();
    assert!(matches!(status.functions[0].against, Some(UserSpaceError::GroupShared { .. })), "{status:?}");
}

/// One refusal: its name, the serial numbers that are allowed, what is done to the machine.
type Case = (&'static str, &'static [&'static str], fn(&Tree));

const CASES: &[Case] = &[
    ("no --allow-unbind", &[], |_| {}),
    ("--allow-unbind of another drive", &["S2"], |_| {}),
    ("a mounted namespace", S1, |t| {
        t.file("proc/self/mountinfo", format!("{SYSTEM}28 27 259:0 / /data rw - xfs /dev/nvme0n1 rw\n"));
    }),
    ("the root drive", S1, |t| _ = t.file("proc/self/mountinfo", "27 1 259:0 / / rw - ext4 /dev/nvme0n1 rw\n")),
    ("swap space", S1, |t| {
        _ = t.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/nvme0n1 partition 8 0 -2\n");
    }),
    ("a member of an array", S1, |t| _ = t.folder(&format!("sys/devices/{BUS}/block/nvme0n1/holders/md0"))),
    ("a disk of a virtual machine", S1, |t| {
        t.file("proc/77/comm", "qemu-system-x86\n").link("proc/77/fd/5", "../../../dev/nvme0n1");
        t.file("proc/77/fdinfo/5", "flags:\t02100002\n");
    }),
    ("the second of two namespaces is mounted", S1, |t| {
        t.disk("nvme0n2", "259:9", 2048, BUS).file("dev/nvme0n2", "");
        t.file("proc/self/mountinfo", format!("{SYSTEM}28 27 259:9 / /data rw - xfs /dev/nvme0n2 rw\n"));
    }),
    ("a namespace that another controller leads to", S1, |t| {
        t.folder("sys/class/nvme/nvme0/nvme0c0n1").folder("sys/class/nvme/nvme1/nvme0c1n1");
    }),
    ("no IOMMU", S1, |t| fs::remove_file(t.root().join(FUNCTION).join("iommu_group")).expect("removed")),
    ("a group with a network card that works", S1, |t| {
        member(t, "0000:41:00.1", "0x020000", Some("mlx5_core"));
        member(t, "0000:41:00.2", "0x020000", None);
        member(t, "0000:41:00.3", "0x010802", Some("vfio-pci"));
    }),
    ("another driver", S1, |t| {
        fs::remove_file(t.root().join(FUNCTION).join("driver")).expect("removed");
        t.link(&format!("{FUNCTION}/driver"), "../../../../bus/pci/drivers/uio_pci_generic");
    }),
    ("no driver", S1, |t| fs::remove_file(t.root().join(FUNCTION).join("driver")).expect("removed")),
    ("a network card", S1, |t| _ = t.file(&format!("{FUNCTION}/class"), "0x020000\n")),
    ("nothing at that address", S1, |t| {
        fs::remove_file(t.root().join("sys/bus/pci/devices").join(ADDRESS)).expect("removed");
    }),
    ("a kernel without vfio-pci", S1, |t| {
        fs::remove_dir_all(t.root().join("sys/bus/pci/drivers/vfio-pci")).expect("removed");
    }),
];

#[test]
fn every_refusal_says_what_why_and_what_to_do_and_changes_nothing() {
    let mut said = String::new();
    for (name, serials, build) in CASES {
        let tree = machine();
        build(&tree);
        let dir = tempfile::tempdir().expect("temp dir");
        let journal = Journal::open(&tree.root(), dir.path(), "fathom run");
        let error = take(&tree, &journal, serials, 16).expect_err(name);
        let help = error.help().expect("a remedy");
        let base = tree.root().join("");
        let text = format!("{}\n  help: {}", english(&error.message()), english(&help));
        let text = text.replace(&*base.to_string_lossy(), "/");
        writeln!(said, "{name}{}\n  {text}", if error.is_refusal() { "" } else { " (a failure)" }).expect("a text");
        assert_eq!(fs::read_dir(dir.path()).expect("folder").count(), 0, "{name}: nothing was begun");
        let untouched = fs::read_to_string(tree.root().join(FUNCTION).join("driver_override")).expect("reads");
        assert_eq!(untouched, "(null)\n", "{name}");
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_group_that_others_may_open_is_named_with_those() {
    let owner = NodeOwner { user: "root".to_owned(), group: "vfio".to_owned(), mode: "rw-rw----".to_owned() };
    let error = UserSpaceError::NoAccess { address: ADDRESS.to_owned(), node: "/dev/vfio/7".into(), owner };
    let help = error.help().expect("a remedy");
    let said = format!("{}; {}", english(&error.message()), english(&help));
    for word in [ADDRESS, "/dev/vfio/7", "root", "vfio", "rw-rw----"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(english(&help).contains("/dev/vfio/7"), "{said}");
}

#[test]
fn a_drive_is_found_by_each_of_its_names() {
    let tree = machine();
    tree.partition("nvme0n1", BUS, "nvme0n1p1", "259:1");
    for name in ["0000:41:00.0", "41:00.0", "S1", "nvme0", "nvme0n1", "/dev/nvme0n1", "/dev/ng0n1", "/dev/nvme0n1p1"] {
        assert_eq!(NvmeFunction::address_of(&tree.root(), name).as_deref(), Some(ADDRESS), "{name}");
    }
    for name in ["S", "nvme0n11", "/dev/nvme0n1p", "vda", ""] {
        assert_eq!(NvmeFunction::address_of(&tree.root(), name), None, "{name}");
    }
}
