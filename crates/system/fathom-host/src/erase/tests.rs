use std::path::PathBuf;
use std::sync::Mutex;

use fathom_nvme::Status;

use super::*;

/// A drive made of the pages that it answers with. What a command does to it is done at once, but for a Format, which
/// takes until its progress was asked for as often as `steps` says.
struct Drive {
    identify: Vec<u8>,
    namespaces: Vec<u32>,
    /// Progress of a sanitize under way, in quarters; `None`: never sanitized.
    sanitize: Mutex<Option<u16>>,
    sanitize_fails: bool,
    refuses: Option<u8>,
    /// Whether a Format puts another block format in force.
    changes_format: bool,
    formatted: Mutex<bool>,
    sent: Mutex<Vec<AdminCommand>>,
}

fn drive() -> Drive {
    let mut identify = vec![0; 4096];
    identify[256] = 0b1010; // Format NVM, Namespace Management
    identify[328] = 0b011; // cryptographic and block erase
    identify[516] = 32; // namespaces it can have
    Drive {
        identify,
        namespaces: vec![1],
        sanitize: Mutex::new(None),
        sanitize_fails: false,
        refuses: None,
        changes_format: false,
        formatted: Mutex::new(false),
        sent: Mutex::new(Vec::new()),
    }
}

impl Drive {
    fn namespace_page(&self) -> Vec<u8> {
        let mut page = vec![0; 4096];
        page[0..3].copy_from_slice(&[0, 0, 1]);
        page[25] = 1; // two formats
        page[26] = u8::from(!(self.changes_format && *self.formatted.lock().expect("no panic")));
        page[130] = 9; // 512 bytes
        page[134] = 12; // 4096 bytes
        page
    }

    fn sanitize_page(&self) -> Vec<u8> {
        let mut page = vec![0; 512];
        let mut done = self.sanitize.lock().expect("no panic");
        if let Some(quarters) = done.as_mut() {
            *quarters += 1;
            let (state, share) = match *quarters {
                1..=3 => (2, *quarters * 0x4000),
                _ if self.sanitize_fails => (3, 0),
                _ => (1, u16::MAX),
            };
            page[0..2].copy_from_slice(&share.to_le_bytes());
            page[2] = state;
        }
        page
    }

    /// Destructive commands, as opcode and dword 10.
    fn harm(&self) -> Vec<(u8, u32)> {
        let sent = self.sent.lock().expect("no panic");
        sent.iter().filter(|c| matches!(c.opcode, 0x80 | 0x84)).map(|c| (c.opcode, c.dwords[0])).collect()
    }
}

impl Port for Drive {
    fn ask(&self, command: &AdminCommand) -> Result<Vec<u8>, DeviceError> {
        self.sent.lock().expect("no panic").push(*command);
        if self.refuses == Some(command.opcode) {
            let status = Status::of(0x0001);
            return Err(DeviceError::Refused { command: command.name, path: PathBuf::from("/dev/nvme9n1"), status });
        }
        Ok(match (command.opcode, command.dwords[0]) {
            (0x06, 1) => self.identify.clone(),
            (0x06, 0) => self.namespace_page(),
            (0x06, 2 | 0x10) => {
                let mut list: Vec<u8> = self.namespaces.iter().flat_map(|id| id.to_le_bytes()).collect();
                list.resize(4096, 0);
                list
            }
            (0x02, _) => self.sanitize_page(),
            (0x80, _) => {
                *self.formatted.lock().expect("no panic") = true;
                Vec::new()
            }
            (0x84, action) => {
                let mut state = self.sanitize.lock().expect("no panic");
                *state = if action == 1 { None } else { Some(0) };
                Vec::new()
            }
            other => panic!("{other:?} is not expected"),
        })
    }
}

fn formatted(drive: &Drive) -> Result<Message, EraseError> {
    format_by(drive, 1, &mut |_| {})
}

fn sanitized(drive: &Drive) -> (Result<Message, EraseError>, Vec<Option<f64>>) {
    let mut seen = Vec::new();
    let stop = AtomicBool::new(false);
    let result = sanitize_by(drive, 1, &stop, Duration::ZERO, &mut |p| seen.push(p.done));
    (result, seen)
}

fn why(result: Result<Message, EraseError>) -> String {
    match result {
        Err(EraseError::Unable(why)) => fathom_language::english(&why),
        other => panic!("nothing may have been begun: {other:?}"),
    }
}

#[test]
fn a_format_erases_user_data_and_keeps_the_block_format() {
    let drive = drive();
    let said = formatted(&drive).expect("it can");
    assert_eq!(
        fathom_language::english(&said),
        "NVMe Format with erasure of user data, block format unchanged (4 KiB blocks)"
    );
    assert_eq!(drive.harm(), [(0x80, 1 | 1 << 9)], "format 1, erase 1");
    let sent = drive.sent.lock().expect("no panic");
    let format = sent.iter().find(|c| c.opcode == 0x80).expect("sent");
    assert_eq!((format.namespace, format.timeout_ms), (1, FORMAT_TIMEOUT_MS));
}

#[test]
fn a_format_that_reaches_other_namespaces_is_never_sent() {
    for flags in [0b01, 0b10, 0b11] {
        let mut drive = drive();
        drive.identify[524] = flags;
        drive.namespaces = vec![1, 2, 5];
        assert!(why(formatted(&drive)).contains("erases all 3 namespaces"), "{flags}");
        assert_eq!(drive.harm(), []);
        drive.namespaces = vec![1];
        assert!(formatted(&drive).is_ok(), "alone it may");
    }
    let mut apart = drive();
    apart.namespaces = vec![1, 2];
    assert!(formatted(&apart).is_ok(), "this drive formats one namespace alone");
}

#[test]
fn a_drive_that_cannot_or_will_not_format_says_so_and_another_way_may_be_tried() {
    let mut drive = drive();
    drive.identify[256] = 0;
    assert!(why(formatted(&drive)).contains("does not support Format NVM"));
    assert_eq!(drive.harm(), []);
    drive.identify[256] = 2;
    drive.refuses = Some(0x80);
    assert!(why(formatted(&drive)).contains("Format NVM on /dev/nvme9n1: "));
    drive.refuses = Some(0x06);
    assert!(why(formatted(&drive)).contains("Identify Controller"));
}

#[test]
fn a_drive_whose_namespaces_are_not_known_is_left_alone() {
    // Without Namespace Management the list is of active ones; this drive has none of either.
    struct NoList(Drive);
    impl Port for NoList {
        fn ask(&self, command: &AdminCommand) -> Result<Vec<u8>, DeviceError> {
            let is_list = command.opcode == 0x06 && matches!(command.dwords[0], 2 | 0x10);
            if is_list {
                let status = Status::of(0x0002);
                return Err(DeviceError::Refused { command: command.name, path: PathBuf::from("/dev/n"), status });
            }
            self.0.ask(command)
        }
    }
    let mut many = NoList(drive());
    assert!(why(format_by(&many, 1, &mut |_| {})).contains("does not report its namespaces"));
    assert_eq!(many.0.harm(), []);
    many.0.identify[516] = 1;
    assert!(format_by(&many, 1, &mut |_| {}).is_ok(), "it can have one only");
}

#[test]
fn a_changed_block_format_is_a_failure() {
    let drive = Drive { changes_format: true, ..drive() };
    assert!(matches!(formatted(&drive), Err(EraseError::Failed(why)) if why.holds("erase-format-changed")));
}

#[test]
fn a_sanitize_is_waited_for_and_its_progress_reported() {
    let drive = drive();
    let (said, seen) = sanitized(&drive);
    assert_eq!(fathom_language::english(&said.expect("it can")), "NVMe Sanitize by block erase");
    assert_eq!(seen, [Some(0.25), Some(0.5), Some(0.75)]);
    assert_eq!(drive.harm(), [(0x84, 2 | 1 << 3)]);
}

#[test]
fn the_means_of_a_sanitize_is_block_erase_then_cryptography_never_overwriting() {
    for (support, wanted) in
        [(0b01, Ok(4 | 1 << 3)), (0b100, Err("overwriting only")), (0, Err("does not support Sanitize"))]
    {
        let mut drive = drive();
        drive.identify[328] = support;
        match (sanitized(&drive).0, wanted) {
            (Ok(_), Ok(dword)) => assert_eq!(drive.harm(), [(0x84, dword)]),
            (result, Err(words)) => {
                assert!(why(result).contains(words));
                assert_eq!(drive.harm(), []);
            }
            (result, Ok(_)) => panic!("{result:?}"),
        }
    }
}

#[test]
fn a_sanitize_of_a_drive_with_other_namespaces_is_never_sent() {
    let drive = Drive { namespaces: vec![1, 2], ..drive() };
    assert!(why(sanitized(&drive).0).contains("Sanitize erases all 2 namespaces"));
    assert_eq!(drive.harm(), []);
}

#[test]
fn a_sanitize_under_way_is_joined_and_not_begun_again() {
    let drive = drive();
    *drive.sanitize.lock().expect("no panic") = Some(1);
    assert!(sanitized(&drive).0.is_ok());
    assert_eq!(drive.harm(), []);
}

#[test]
fn a_failed_sanitize_is_named_and_the_drive_brought_back() {
    let drive = Drive { sanitize_fails: true, ..drive() };
    let said = sanitized(&drive).0;
    assert!(matches!(&said, Err(EraseError::Failed(why)) if why.id().starts_with("erase-sanitize-failed")), "{said:?}");
    assert_eq!(drive.harm(), [(0x84, 2 | 1 << 3), (0x84, 1)], "the failure mode is left");
}

#[test]
fn who_stops_waiting_learns_that_the_drive_goes_on() {
    let drive = drive();
    let said = sanitize_by(&drive, 1, &AtomicBool::new(true), Duration::ZERO, &mut |_| {});
    assert_eq!(said, Err(EraseError::Stopped));
}
