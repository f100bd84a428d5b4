//! The driver against a controller in memory, sound and unsound.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::fake::{BLOCK_BYTES, Behaviour, Data, FakeDrive, Running, SERIAL};
use super::registers::{Bar, CAP};
use super::{DrivenNamespace, Driver, DriverError, Patience, PciFunction, QueuePair};
use crate::command::AdminCommand;
use crate::status::Status;

/// Buffers that outlive the queues on them.
struct Memory {
    pages: Vec<[u8; 4096]>,
    base: NonNull<u8>,
    slot_bytes: usize,
}

impl Memory {
    fn new(slots: usize, slot_bytes: usize) -> Memory {
        let mut pages = vec![[0; 4096]; (slots * slot_bytes).div_ceil(4096) + 1];
        let at = pages.as_mut_ptr().cast::<u8>();
        let base = NonNull::new(at.wrapping_add(at.align_offset(4096))).expect("not null");
        Memory { pages, base, slot_bytes }
    }

    fn slot(&mut self, slot: usize, len: usize) -> &mut [u8] {
        assert!(!self.pages.is_empty() && len <= self.slot_bytes);
        // SAFETY: within the pages; no command of the slot is on its way where tests look.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(slot * self.slot_bytes), len) }
    }

    fn pair(&self, driver: &Arc<Driver>, slots: u32) -> Result<QueuePair, DriverError> {
        let bytes = (slots as usize * self.slot_bytes).next_multiple_of(4096);
        // SAFETY: the tests keep the memory longer than the pair.
        unsafe { QueuePair::new(driver, slots, self.base, self.slot_bytes, bytes) }
    }
}

/// A command without an answer is given up soon. The drive answers everything else, if late on a busy host.
fn little_patience() -> Patience {
    Patience { command: Duration::from_millis(500), ..ample_patience() }
}

/// For tests that pass with and without an answer.
fn short_patience() -> Patience {
    let second = Duration::from_secs(1);
    Patience { command: second, after_abort: second, admin: second }
}

/// An answer as late as this never comes.
fn ample_patience() -> Patience {
    let late = Duration::from_secs(10);
    Patience { command: late, after_abort: late, admin: late }
}

fn started(behaviour: Behaviour) -> (Arc<FakeDrive>, Running, Arc<Driver>) {
    let no_abort = Duration::from_millis(500);
    let patience = match (behaviour.silent_block, behaviour.aborts) {
        (None, _) => ample_patience(),
        (Some(_), true) => little_patience(),
        (Some(_), false) => Patience { after_abort: no_abort, ..little_patience() },
    };
    let (drive, running) = FakeDrive::running(behaviour);
    let driver = Driver::start_with(drive.clone(), patience).expect("starts");
    (drive, running, driver)
}

type Done = Vec<(u32, Result<u32, Status>)>;

/// Submits, and waits for everything.
fn finish(pair: &mut QueuePair) -> Result<Done, DriverError> {
    let mut done = Vec::new();
    pair.submit();
    while pair.in_flight() > 0 {
        pair.wait(1, None)?;
        pair.reap(|slot, result| done.push((slot, result)))?;
    }
    Ok(done)
}

#[test]
fn a_controller_is_started_asked_and_shut_down() {
    let (drive, running, driver) = started(Behaviour { pairs: 3, ..Behaviour::default() });
    assert_eq!((driver.described().serial.as_str(), driver.version()), (SERIAL, (1, 4, 0)));
    assert_eq!((driver.granted_pairs(), driver.transfer_bytes_max()), (3, 512 << 10));
    let namespace = driver.namespace(1).expect("answers");
    assert_eq!((namespace.size_blocks, namespace.block_bytes()), (16 << 10, Some(512)));
    let refused = driver.ask(&AdminCommand::smart_log()).expect_err("has none");
    assert!(matches!(refused, DriverError::Refused { command: "SMART log", .. }), "{refused}");
    drop(driver);
    drop(running);
    assert_eq!((drive.astray(), drive.mapped_bytes()), (0, 0), "nothing stays mapped");
}

#[test]
fn what_is_written_is_read_back_at_every_depth_and_size() {
    for (has_shadow_doorbells, has_sgls) in [(false, false), (true, false), (false, true)] {
        let (drive, _running, driver) = started(Behaviour { has_shadow_doorbells, has_sgls, ..Behaviour::default() });
        assert_eq!(driver.has_sgls(), has_sgls);
        assert_eq!(driver.has_shadow_doorbells(), has_shadow_doorbells);
        for (slots, len) in [(1, 512), (7, 4096), (32, 1536), (16, 8192), (5, 128 << 10), (256, 512)] {
            let mut memory = Memory::new(slots, len);
            let mut pair = memory.pair(&driver, slots as u32).expect("makes queues");
            let block = |slot: usize| (slot * len / BLOCK_BYTES) as u64;
            for round in 0..3_u8 {
                for slot in 0..slots {
                    memory.slot(slot, len).iter_mut().enumerate().for_each(|(at, byte)| {
                        *byte = (at / 512) as u8 ^ (slot as u8).wrapping_mul(7) ^ round;
                    });
                    pair.write(slot as u32, 1, block(slot), len as u32, 9, round == 1);
                }
                let written = finish(&mut pair).expect("works");
                assert_eq!(written.len(), slots);
                assert!(written.iter().all(|(_, result)| *result == Ok(len as u32)), "{written:?}");
                for slot in 0..slots {
                    memory.slot(slot, len).fill(0xee);
                    // Other slots than they were written from.
                    pair.read(slot as u32, 1, block(slots - 1 - slot), len as u32, 9);
                }
                assert_eq!(finish(&mut pair).expect("works").len(), slots);
                for slot in 0..slots {
                    let from = (slots - 1 - slot) as u8;
                    let is_right = memory
                        .slot(slot, len)
                        .iter()
                        .enumerate()
                        .all(|(at, byte)| *byte == (at / 512) as u8 ^ from.wrapping_mul(7) ^ round);
                    assert!(is_right, "slot {slot} of {slots} x {len}");
                }
            }
            pair.flush(0, 1);
            assert_eq!(finish(&mut pair).expect("works"), [(0, Ok(0))]);
            pair.deallocate(0, 1, 0, len as u32, 9);
            assert_eq!(finish(&mut pair).expect("works"), [(0, Ok(len as u32))]);
            pair.read(0, 1, 0, len as u32, 9);
            finish(&mut pair).expect("works");
            assert!(memory.slot(0, len).iter().all(|byte| *byte == 0));
        }
        assert_eq!((drive.astray(), drive.flushes()), (0, 6));
    }
}

#[test]
fn queues_are_given_back_and_no_more_than_were_granted() {
    let (drive, _running, driver) = started(Behaviour { pairs: 2, entries_max: 16, ..Behaviour::default() });
    let memory = Memory::new(64, 512);
    for _ in 0..5 {
        let _first = memory.pair(&driver, 15).expect("one");
        let _second = memory.pair(&driver, 1).expect("two");
        let third = memory.pair(&driver, 1).map(|_| ()).expect_err("no third");
        assert!(matches!(third, DriverError::NoQueue { granted: 2 }), "{third}");
    }
    let short = memory.pair(&driver, 16).map(|_| ()).expect_err("too deep");
    assert!(matches!(short, DriverError::QueueTooShort { wanted: 16, max: 15 }), "{short}");
    let large = Memory::new(1, 1 << 20).pair(&driver, 1).map(|_| ()).expect_err("too large");
    assert!(matches!(large, DriverError::TransferTooLarge { max_bytes: 0x8_0000, .. }), "{large}");
    assert_eq!(drive.astray(), 0);
}

#[test]
fn a_medium_error_is_that_of_its_command_alone() {
    let (_drive, _running, driver) = started(Behaviour { bad_block: Some(9), ..Behaviour::default() });
    let memory = Memory::new(4, 512);
    let mut pair = memory.pair(&driver, 4).expect("queues");
    (0..4).for_each(|slot| pair.read(slot, 1, 7 + u64::from(slot), 512, 9));
    let mut done = finish(&mut pair).expect("works");
    done.sort_by_key(|(slot, _)| *slot);
    assert_eq!(done[2], (2, Err(Status::of(0x281))));
    assert!([0, 1, 3].iter().all(|at| done[*at].1 == Ok(512)));
    // Beyond the end.
    pair.read(0, 1, 16 << 10, 512, 9);
    assert_eq!(finish(&mut pair).expect("works"), [(0, Err(Status::of(0x80)))]);
}

#[test]
fn what_was_not_started_can_be_forgotten() {
    let (_drive, _running, driver) = started(Behaviour::default());
    let memory = Memory::new(4, 512);
    let mut pair = memory.pair(&driver, 4).expect("queues");
    pair.read(0, 1, 0, 512, 9);
    pair.submit();
    (1..4).for_each(|slot| pair.read(slot, 1, 0, 512, 9));
    pair.discard();
    assert_eq!(finish(&mut pair).expect("works"), [(0, Ok(512))]);
    pair.read(2, 1, 0, 512, 9);
    assert_eq!(finish(&mut pair).expect("works"), [(2, Ok(512))]);
}

#[test]
fn a_controller_that_never_becomes_ready_is_given_up() {
    let (drive, _running) = FakeDrive::running(Behaviour { never_ready: true, ..Behaviour::default() });
    let error = Driver::start(drive.clone()).expect_err("never ready");
    assert!(matches!(error, DriverError::NotReady { waited_ms: 1000.., .. }), "{error}");
    assert_eq!(drive.mapped_bytes(), 0);
}

#[test]
fn pages_that_are_too_large_and_formats_with_metadata_are_refused() {
    let (drive, _running) = FakeDrive::running(Behaviour::default());
    // CAP.MPSMIN: the smallest memory page is 2^(12 + MPSMIN) bytes (NVMe Base 2.0c, figure 36).
    let (base, len_bytes) = drive.registers();
    // SAFETY: the window of a drive that outlives this value.
    let bar = unsafe { Bar::new(base, len_bytes) };
    bar.write_wide(CAP, bar.read_wide(CAP) | 2 << 48);
    let error = Driver::start(drive.clone()).expect_err("pages of 16 KiB");
    assert!(matches!(error, DriverError::PageSize { min_bytes: 16_384 }), "{error}");
    assert_eq!(drive.mapped_bytes(), 0);
    // The same page for a controller and its namespace: 16384 blocks of a format in use whose MS and LBADS are these.
    for (metadata_bytes, shift) in [(8_u16, 9_u8), (0, 0), (0, 3)] {
        let mut page = vec![0; 4096];
        page[0..8].copy_from_slice(&16_384_u64.to_le_bytes());
        page[8..16].copy_from_slice(&16_384_u64.to_le_bytes());
        page[128..130].copy_from_slice(&metadata_bytes.to_le_bytes());
        page[130] = shift;
        (page[512], page[513], page[516]) = (0x66, 0x44, 1);
        let (_drive, _running, driver) = started(Behaviour { identify: Some(page), ..Behaviour::default() });
        let error = DrivenNamespace::of(driver, 1).map(|_| ()).expect_err("no format of ours");
        let is_named =
            matches!(error, DriverError::Format { namespace: 1, metadata_bytes: found } if found == metadata_bytes);
        assert!(is_named, "{shift}: {error}");
    }
}

#[test]
fn a_controller_that_fails_ends_the_queues() {
    let (_drive, _running, driver) = started(Behaviour { fatal_after: Some(2), ..Behaviour::default() });
    let memory = Memory::new(4, 512);
    let mut pair = memory.pair(&driver, 4).expect("queues");
    (0..4).for_each(|slot| pair.read(slot, 1, 0, 512, 9));
    let error = finish(&mut pair).expect_err("failed");
    assert!(matches!(error, DriverError::Fatal { .. }), "{error}");
    assert_eq!(pair.in_flight(), 0, "it was switched off");
    let other = memory.pair(&driver, 4).map(|_| ()).expect_err("off");
    assert!(matches!(other, DriverError::Stopped), "{other}");
}

#[test]
fn a_drive_that_is_pulled_or_wanted_back_ends_the_queues() {
    for is_pulled in [true, false] {
        let (drive, _running, driver) = started(Behaviour { silent_block: Some(5), ..Behaviour::default() });
        let memory = Memory::new(1, 512);
        let mut pair = memory.pair(&driver, 1).expect("queues");
        pair.read(0, 1, 5, 512, 9);
        pair.submit();
        pair.wait(1, Some(Duration::from_millis(5))).expect("only silent");
        if is_pulled {
            drive.pull();
        } else {
            drive.want_back();
        }
        let error = pair.wait(1, None).expect_err("gone");
        let is_named =
            if is_pulled { matches!(error, DriverError::Gone) } else { matches!(error, DriverError::WantedBack) };
        assert!(is_named, "{error}");
        assert_eq!(pair.in_flight(), 0);
    }
}

#[test]
fn a_command_that_is_not_answered_is_aborted_and_then_the_drive_given_up() {
    for aborts in [true, false] {
        let (_drive, _running, driver) = started(Behaviour { silent_block: Some(5), aborts, ..Behaviour::default() });
        let memory = Memory::new(2, 512);
        let mut pair = memory.pair(&driver, 2).expect("queues");
        pair.read(0, 1, 5, 512, 9);
        pair.submit();
        let done = finish(&mut pair);
        if aborts {
            assert_eq!(done.expect("aborted"), [(0, Err(Status::of(0x07)))]);
            pair.read(0, 1, 6, 512, 9);
            assert_eq!(finish(&mut pair).expect("goes on"), [(0, Ok(512))]);
        } else {
            let error = done.expect_err("no answer");
            assert!(matches!(error, DriverError::NoAnswer { .. }), "{error}");
            assert_eq!(pair.in_flight(), 0);
        }
    }
}

#[test]
fn a_drive_may_take_as_long_as_the_documentation_says() {
    let patience = Patience::default();
    let (drive, _running) = FakeDrive::running(Behaviour::default());
    assert_eq!(Driver::start(drive).expect("starts").patience(), patience);
    let text = include_str!("../../../../../docs/NVME.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let said = format!(
        "A command without an answer is aborted after {} s; if that does not bring it back within {} s, the controller is \
         switched off",
        patience.command.as_secs(),
        patience.after_abort.as_secs()
    );
    assert!(text.contains(&said), "docs/NVME.md does not say: {said}");
    assert!(text.contains(&format!("An admin command has {} s", patience.admin.as_secs())), "{:?}", patience.admin);
}

/// The default is what a command gets, not only what is written down: a drive that may take longer is waited for.
#[test]
fn a_command_is_waited_for_as_long_as_its_drive_may_take() {
    let (drive, _running) = FakeDrive::running(Behaviour { silent_block: Some(5), ..Behaviour::default() });
    let times = [Duration::from_millis(200), Duration::from_millis(900)];
    let waited = times.map(|command| {
        let patience = Patience { command, ..little_patience() };
        let driver = Driver::start_with(drive.clone(), patience).expect("starts");
        let memory = Memory::new(1, 512);
        let mut pair = memory.pair(&driver, 1).expect("queues");
        pair.read(0, 1, 5, 512, 9);
        let begun = std::time::Instant::now();
        assert_eq!(finish(&mut pair).expect("aborted"), [(0, Err(Status::of(0x07)))]);
        begun.elapsed()
    });
    assert!(waited[0] >= times[0] && waited[1] >= times[1], "{waited:?}");
}

#[test]
fn a_completion_that_nobody_asked_for_ends_the_queues() {
    for id in [3, 700, u16::MAX] {
        let (drive, _running, driver) = started(Behaviour { unasked_completion: Some(id), ..Behaviour::default() });
        let memory = Memory::new(8, 512);
        let mut pair = memory.pair(&driver, 8).expect("queues");
        pair.read(0, 1, 0, 512, 9);
        let error = finish(&mut pair).expect_err("unasked");
        assert!(matches!(error, DriverError::UnknownCompletion { queue: 1, .. }), "{error}");
        assert_eq!(drive.astray(), 0);
    }
}

#[test]
fn a_bar_without_registers_is_no_controller() {
    struct Short(Arc<FakeDrive>);
    // SAFETY: as the drive itself, of which it shows less.
    unsafe impl PciFunction for Short {
        fn registers(&self) -> (NonNull<u8>, usize) {
            (self.0.registers().0, 4096)
        }
        unsafe fn map(&self, at: NonNull<u8>, bytes: usize) -> std::io::Result<u64> {
            // SAFETY: the caller's promise.
            unsafe { self.0.map(at, bytes) }
        }
        fn unmap(&self, address: u64, bytes: usize) {
            self.0.unmap(address, bytes);
        }
        fn is_wanted_back(&self) -> bool {
            false
        }
        fn cut_off(&self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let drive = FakeDrive::new(Behaviour::default());
    let error = Driver::start(Arc::new(Short(drive))).expect_err("too short");
    assert!(matches!(error, DriverError::NotNvme { bar_bytes: 4096 }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a hostile drive writes where completions are expected.
    #[test]
    fn hostile_completions_neither_panic_nor_reach_beyond(dwords: [[u32; 4]; 12]) {
        let (drive, _running, driver) = started(Behaviour { data: Data::Nowhere, ..Behaviour::default() });
        let memory = Memory::new(8, 512);
        let mut pair = memory.pair(&driver, 8).expect("queues");
        for (at, dwords) in dwords.into_iter().enumerate() {
            // Some name slots that are used, most do not.
            let dwords = if at % 2 == 0 { [dwords[0], dwords[1], dwords[2], dwords[3] & !0xfff8] } else { dwords };
            drive.complete_by_hand(1, dwords);
            let mut seen = 0;
            let ended = pair.reap(|slot, _| {
                assert!(slot < 8);
                seen += 1;
            });
            // Nothing was asked for, so nothing may be said to be done.
            prop_assert_eq!(seen, 0);
            prop_assert!(ended.is_err());
            if pair.in_flight() == 0 {
                break;
            }
        }
        prop_assert_eq!(drive.astray(), 0);
    }

    /// Whatever it says of itself.
    #[test]
    fn hostile_identify_pages_neither_panic_nor_reach_beyond(page in proptest::collection::vec(any::<u8>(), 4096)) {
        let (drive, _running) = FakeDrive::running(Behaviour { identify: Some(page), ..Behaviour::default() });
        if let Ok(driver) = Driver::start_with(drive.clone(), short_patience()) {
            let _ = driver.namespace(1);
            prop_assert!(driver.transfer_bytes_max() <= 2 << 20);
            let memory = Memory::new(2, 4096);
            if let Ok(mut pair) = memory.pair(&driver, 2) {
                pair.read(0, 1, 0, 4096, 9);
                let _ = finish(&mut pair);
            }
        }
        prop_assert_eq!(drive.astray(), 0);
    }
}
