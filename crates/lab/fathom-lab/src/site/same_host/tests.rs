//! Made-up machines: what a run kept of one, and what the kernel shows after a restart.

use std::path::Path;

use fathom_host::DeviceKind;
use fathom_language::english;
use fathom_message::Say;
use fathom_plan::{Plan, Step, StudyHead};
use fathom_record::{DiskDelta, HostDelta, StepFailure, StepRecord, TargetRecord, VectorDelta, Warning};

use super::*;

const GIB: u64 = 1 << 30;

/// This machine without targets: what is compared beside the drives.
fn bare() -> HostFacts {
    HostFacts::collect(&Root::live(), &[]).expect("this is a Linux machine")
}

fn device(name: &str, drive: Option<&DriveIdentity>, partition: &str) -> BlockDevice {
    BlockDevice {
        name: name.to_owned(),
        dev_path: Path::new("/dev").join(name),
        number: "259:0".to_owned(),
        kind: DeviceKind::Disk,
        partition: (!partition.is_empty()).then(|| format!("{name}{partition}")),
        slaves: Vec::new(),
        model: drive.and_then(|d| d.model.clone()),
        // As facts keep it; the ends of all drives below are alike.
        serial: drive.map(|_| "…P0FG".to_owned()),
        firmware: None,
        size_bytes: drive.map_or(GIB, |d| d.size_bytes),
        logical_block_bytes: 512,
        physical_block_bytes: 512,
        rotational: false,
        scheduler: None,
        nr_requests: None,
        hw_queues: 1,
        write_cache: None,
        transport: "nvme-pcie".to_owned(),
        numa_node: None,
        read_only: false,
        io_poll: false,
        poll_queues: None,
    }
}

fn drive(name: &str, serial: &str) -> DriveIdentity {
    DriveIdentity {
        name: name.to_owned(),
        serial: format!("{serial}P0FG"),
        model: Some("FAST DRIVE".to_owned()),
        namespace: Some(1),
        size_bytes: GIB,
        interrupt_device: name.strip_suffix("n1").map(str::to_owned),
    }
}

/// What is behind `path` among `drives`: `/dev/nvme0n1p2` and `/dev/ng0n1` lead to nvme0n1, `link` to the drive with serial
/// number A, `file` to a file on it, and anything else to a device without serial number.
fn target(path: &str, drives: &[DriveIdentity]) -> TargetFacts {
    let a = || drives.iter().find(|d| d.serial == "AP0FG").map_or_else(String::new, |d| d.name.clone());
    let name = path.rsplit('/').next().unwrap_or(path).replace("ng", "nvme");
    let (name, partition) = match name.as_str() {
        "link" | "file" => (a(), String::new()),
        whole => match whole.split_once('p') {
            Some((whole, number)) => (whole.to_owned(), format!("p{number}")),
            None => (name, String::new()),
        },
    };
    let drive = drives.iter().find(|d| d.name == name);
    let is_there = drive.is_some() || name == "vdx";
    let mount = fathom_host::mounts(&Root::live()).ok().and_then(|m| m.into_iter().next());
    let mount = mount.map(|m| fathom_host::Mount { fs_type: "ext4".to_owned(), ..m });
    TargetFacts {
        target: None,
        path: path.to_owned(),
        mount: mount.filter(|_| path.ends_with("file")),
        device: is_there.then(|| device(&name, drive, &partition)),
        no_device_because: (!is_there).then(|| Message::verbatim("there is none")),
    }
}

fn facts(paths: &[&str], drives: &[DriveIdentity]) -> HostFacts {
    HostFacts { targets: paths.iter().map(|path| target(path, drives)).collect(), ..bare() }
}

/// The same as a site asks for them: what is looked for, and where.
fn facts_of(paths: &[(TargetId, PathBuf)], drives: &[DriveIdentity]) -> HostFacts {
    let facts = |(id, path): &(TargetId, PathBuf)| TargetFacts {
        target: Some(id.clone()),
        ..target(path.to_str().expect("UTF-8"), drives)
    };
    HostFacts { targets: paths.iter().map(facts).collect(), ..bare() }
}

/// A run that began with targets `paths` on the machine with drives `then`, and goes on on the one with drives `now`.
fn goes_on(paths: &[&str], then: &[DriveIdentity], now: &[DriveIdentity]) -> Result<DrivesToday, Vec<String>> {
    let begun = facts(paths, then);
    assert!(begun.targets.iter().all(|t| t.device.is_some()), "all targets were there at first");
    let look = |paths: &[(TargetId, PathBuf)]| Ok(facts_of(paths, now));
    let found = compared(Seen { facts: &begun, drives: Some(then) }, now, &look).expect("made up");
    found.map_err(|why| why.iter().map(english).collect())
}

fn paths_now(found: &DrivesToday, paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| found.path_of(&(*path).into()).display().to_string()).collect()
}

#[test]
fn the_same_machine_is_the_same_and_each_change_is_named() {
    let then = bare();
    assert!(of_machine(&then, &then).is_empty());
    let mut now = then.clone();
    now.kernel = "7.0".to_owned();
    now.memory_bytes = then.memory_bytes / 2;
    let said = of_machine(&then, &now);
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!([said[0].id(), said[1].id()], ["host-other-kernel", "host-other-memory"]);
    assert!(english(&said[0]).ends_with("and is 7.0"), "{said:?}");
    now = then.clone();
    now.memory_bytes += 4096;
    assert!(of_machine(&then, &now).is_empty(), "a page more is no other machine");
}

#[test]
fn drives_that_kept_their_names_need_no_others() {
    let drives = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let paths = ["/dev/nvme0n1", "/dev/nvme1n1p2", "/dev/ng1n1", "/dev/link", "/srv/file", "/dev/vdx"];
    let found = goes_on(&paths, &drives, &drives).expect("nothing changed");
    assert_eq!(found, DrivesToday::default());
    assert_eq!(paths_now(&found, &paths), paths);
}

#[test]
fn two_drives_that_changed_places_are_each_found_under_the_others_name() {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let now = [drive("nvme0n1", "B"), drive("nvme1n1", "A")];
    let paths = ["/dev/nvme0n1", "/dev/nvme1n1"];
    let found = goes_on(&paths, &then, &now).expect("both are here, though the ends of their serial numbers are alike");
    assert_eq!(paths_now(&found, &paths), ["/dev/nvme1n1", "/dev/nvme0n1"]);
    assert_eq!(
        crate::samples::words(&found.notes()),
        [
            "/dev/nvme0n1 of the run is /dev/nvme1n1 now (serial …P0FG)",
            "/dev/nvme1n1 of the run is /dev/nvme0n1 now (serial …P0FG)"
        ]
    );
}

#[test]
fn a_drive_that_moved_to_a_third_number_is_found_there_in_the_form_it_was_named_in() {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let now = [drive("nvme2n1", "A"), drive("nvme1n1", "B")];
    for (path, today) in [
        ("/dev/nvme0n1", "/dev/nvme2n1"),
        ("/dev/ng0n1", "/dev/ng2n1"),
        ("/dev/nvme0n1p2", "/dev/nvme2n1p2"),
        ("/dev/nvme1n1", "/dev/nvme1n1"),
        // A link leads to the drive itself, and a file is where its path leads.
        ("/dev/link", "/dev/link"),
        ("/srv/file", "/srv/file"),
    ] {
        let found = goes_on(&[path], &then, &now).unwrap_or_else(|e| panic!("{path}: {e:?}"));
        assert_eq!(paths_now(&found, &[path]), [today]);
    }
}

#[test]
fn a_drive_that_is_gone_is_named_with_what_is_there_now() {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let said = goes_on(&["/dev/nvme0n1"], &then, &[drive("nvme0n1", "B")]).expect_err("A is gone");
    let other = "/dev/nvme0n1 is now model FAST DRIVE, serial BP0FG, 1073741824 bytes";
    let begin = "the drive behind /dev/nvme0n1 was model FAST DRIVE, serial AP0FG, 1073741824 bytes; ";
    assert_eq!(said, [format!("{begin}no drive with this serial number is here, and {other}")]);
    let said = goes_on(&["/dev/nvme0n1"], &then, &[drive("nvme1n1", "B")]).expect_err("and nothing has its name");
    assert!(said[0].ends_with("and there is no /dev/nvme0n1"), "{said:?}");
}

#[test]
fn a_drive_of_the_same_serial_number_but_another_size_or_namespace_is_another() {
    let then = [drive("nvme0n1", "A")];
    let grown = DriveIdentity { size_bytes: 2 * GIB, ..drive("nvme1n1", "A") };
    let said = goes_on(&["/dev/nvme0n1"], &then, &[grown]).expect_err("it was formatted again");
    let words = "with this serial number there is nvme1n1: model FAST DRIVE, serial AP0FG, 2147483648 bytes";
    assert!(said[0].contains(words), "{said:?}");
    let second = DriveIdentity { namespace: Some(2), ..drive("nvme0n1", "A") };
    let said = goes_on(&["/dev/nvme0n1"], &then, &[second]).expect_err("its namespaces were made again");
    assert!(said[0].contains("serial AP0FG, namespace 2, "), "{said:?}");
}

#[test]
fn two_drives_with_one_serial_number_are_not_guessed_at() {
    let then = [drive("nvme0n1", "A")];
    let now = [drive("nvme1n1", "A"), drive("nvme2n1", "A")];
    let said = goes_on(&["/dev/nvme0n1"], &then, &now).expect_err("which one?");
    assert!(said[0].contains("nvme1n1 and nvme2n1 have the same serial number, model and size"), "{said:?}");
    // One of two is left: it may be the other one.
    let said = goes_on(&["/dev/nvme1n1"], &now, &[drive("nvme0n1", "A")]).expect_err("which one?");
    assert!(said[0].contains("2 drives had this serial number"), "{said:?}");
    // Where both are where they were, nothing has to be looked for.
    assert_eq!(goes_on(&["/dev/nvme1n1"], &now, &now), Ok(DrivesToday::default()));
}

#[test]
fn without_a_serial_number_the_name_is_all_there_is() {
    let none: [DriveIdentity; 0] = [];
    assert_eq!(goes_on(&["/dev/vdx"], &none, &none), Ok(DrivesToday::default()));
    let begun = facts(&["/dev/vdx"], &none);
    let seen = Seen { facts: &begun, drives: Some(&none) };
    let grown = |paths: &[(TargetId, PathBuf)]| {
        let mut now = facts_of(paths, &none);
        now.targets[0].device.as_mut().expect("a device").size_bytes += 512;
        Ok(now)
    };
    let said = compared(seen, &none, &grown).expect("made up").expect_err("another size");
    assert!(english(&said[0]).starts_with("the drive behind /dev/vdx was vdx, model unknown"), "{said:?}");
    // A name that a drive with a serial number has taken is another device.
    let taken = [DriveIdentity { name: "vdx".into(), ..drive("nvme0n1", "A") }];
    let said = goes_on(&["/dev/vdx"], &none, &taken).expect_err("another device");
    assert!(said[0].contains("serial AP0FG"), "{said:?}");
}

#[test]
fn a_partition_that_is_another_one_by_now_and_a_file_on_another_drive_are_refused() {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let begun = facts(&["/dev/nvme0n1p2"], &then);
    let moved = |paths: &[(TargetId, PathBuf)]| {
        let mut now = facts_of(paths, &then);
        now.targets[0].device.as_mut().expect("a device").partition = Some("nvme0n1p3".to_owned());
        Ok(now)
    };
    let said = compared(Seen { facts: &begun, drives: Some(&then) }, &then, &moved).expect("made up");
    let said: Vec<String> = said.expect_err("another partition").iter().map(english).collect();
    assert!(said[0].contains("was part p2 of model") && said[0].contains("is part p3 of model"), "{said:?}");

    let begun = facts(&["/srv/file"], &then);
    let elsewhere = |paths: &[(TargetId, PathBuf)]| {
        let mut now = facts_of(paths, &then);
        now.targets[0].device = Some(device("nvme1n1", Some(&then[1]), ""));
        Ok(now)
    };
    let said = compared(Seen { facts: &begun, drives: Some(&then) }, &then, &elsewhere).expect("made up");
    assert!(english(&said.expect_err("another drive")[0]).contains("serial BP0FG"));
}

#[test]
fn a_run_that_keeps_no_serial_numbers_goes_on_where_the_marks_are_the_same_and_is_never_sent_elsewhere() {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B")];
    let begun = facts(&["/dev/nvme0n1"], &then);
    let seen = Seen { facts: &begun, drives: None };
    let same = compared(seen, &then, &|paths| Ok(facts_of(paths, &then))).expect("made up");
    assert_eq!(same, Ok(DrivesToday::default()));
    let other = DriveIdentity { size_bytes: 2 * GIB, ..drive("nvme0n1", "B") };
    let now = [other, drive("nvme1n1", "A")];
    let said = compared(seen, &now, &|paths| Ok(facts_of(paths, &now))).expect("made up").expect_err("another size");
    assert_eq!(said.len(), 1, "{said:?}");
}

/// A step over both drives, and the swap they went through.
fn swapped() -> (DrivesToday, Step) {
    let then = [drive("nvme0n1", "A"), drive("nvme1n1", "B"), drive("nvme2n1", "C")];
    let now = [drive("nvme1n1", "A"), drive("nvme0n1", "B"), drive("nvme2n1", "C")];
    let found = goes_on(&["/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1"], &then, &now).expect("all are here");
    let paths = ["/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1"];
    let targets = paths.map(TargetId::new).to_vec();
    (found, Step { targets, ..crate::samples::step() })
}

#[test]
fn a_run_is_repeated_on_the_paths_of_today_and_what_the_kernel_counted_has_the_names_of_then() {
    let (found, step) = swapped();
    let plan = Plan {
        study: StudyHead::new("own", "?"),
        source: String::new(),
        steps: vec![step.clone()],
        notes: Vec::new(),
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    };
    let again = found.renamed(&plan);
    assert_eq!(again.steps[0].targets, ["/dev/nvme1n1", "/dev/nvme0n1", "/dev/nvme2n1"].map(TargetId::new));

    let disk = |name: &str, read_ios| DiskDelta { device: name.to_owned(), read_ios, ..DiskDelta::default() };
    let mut record = StepRecord {
        targets: step
            .targets
            .iter()
            .zip([70, 80, 90])
            .map(|(t, ios)| TargetRecord { target: t.clone(), ios, bytes: 0, errors: 0, lat: None })
            .collect(),
        host: Some(HostDelta {
            disks: vec![disk("nvme0n1", 80), disk("nvme1n1", 70), disk("nvme2n1", 90)],
            vectors: vec![VectorDelta {
                irq: 1,
                device: "nvme1".into(),
                queue: Some(1),
                count: 70,
                by_cpu: Vec::new(),
            }],
            ..HostDelta::default()
        }),
        warnings: vec![Warning::DiskstatsDisagree {
            devices: vec!["nvme1n1".into(), "nvme2n1".into()],
            ours: 1,
            kernel: 2,
        }],
        ..StepRecord::default()
    };
    found.name_as_then(&step, &mut record);
    let by_target: Vec<(&str, u64)> = record.targets.iter().map(|t| (t.target.as_str(), t.ios)).collect();
    assert_eq!(by_target, [("/dev/nvme0n1", 70), ("/dev/nvme1n1", 80), ("/dev/nvme2n1", 90)]);
    let host = record.host.as_ref().expect("counters");
    let by_disk: Vec<(&str, u64)> = host.disks.iter().map(|d| (d.device.as_str(), d.read_ios)).collect();
    assert_eq!(by_disk, [("nvme1n1", 80), ("nvme0n1", 70), ("nvme2n1", 90)], "as the stored machine names them");
    assert_eq!(host.vectors[0].device, "nvme0");
    assert_eq!(
        record.warnings,
        [Warning::DiskstatsDisagree { devices: vec!["nvme0n1".into(), "nvme2n1".into()], ours: 1, kernel: 2 },]
    );
    let said: Vec<String> = record.features.iter().map(|f| format!("{}: {}", f.name, english(&f.detail))).collect();
    assert_eq!(
        said,
        [
            "path of /dev/nvme0n1: /dev/nvme1n1 now, serial …P0FG",
            "path of /dev/nvme1n1: /dev/nvme0n1 now, serial …P0FG"
        ]
    );
}

#[test]
fn a_step_that_touches_no_moved_drive_says_nothing_of_it() {
    let (found, mut step) = swapped();
    step.targets.retain(|t| t.as_str() == "/dev/nvme2n1");
    let mut record = StepRecord::default();
    found.name_as_then(&step, &mut record);
    assert_eq!(record, StepRecord::default());
    let failure = |step: &Step| {
        let refused = StepFailure::Refused {
            what: Message::verbatim("mode iopoll"),
            why: Message::verbatim("no poll queues"),
            help: Message::verbatim("?"),
        };
        english(&found.explain(step, refused).message())
    };
    assert_eq!(failure(&step), "mode iopoll: no poll queues");
    step.targets = vec![TargetId::new("/dev/nvme1n1")];
    assert_eq!(
        failure(&step),
        "mode iopoll: no poll queues; /dev/nvme1n1 of the run is /dev/nvme0n1 now (serial …P0FG)"
    );
}
