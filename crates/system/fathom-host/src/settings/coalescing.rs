//! Interrupt coalescing of an NVMe drive (Base 2.0, feature 08h): completions that it may gather before it interrupts, and how
//! long. The drive forgets it when it is reset.

use std::path::PathBuf;

use fathom_message::msg;
use fathom_nvme::{AdminCommand, Coalescing, Device, FeatureId, coalescing};

use super::{Setting, SettingError};
use crate::root::{Root, attribute};

/// An interrupt for each completion, as far as the drive is concerned.
const OFF: &str = "off";
/// Most completions, and the longest wait in microseconds (an 8-bit count of 100 us), that the feature can say.
const COMPLETIONS_MAX: u16 = 256;
const WAIT_US_MAX: u32 = 25_500;
const WAIT_UNIT_US: u32 = 100;

/// `8/300us` for eight completions or 300 us; `off`.
pub(super) fn text_of(set: Coalescing) -> String {
    if set.is_on() { format!("{}/{}us", set.completions, set.wait_us) } else { OFF.to_owned() }
}

/// The other way; `None` for what the feature cannot say.
pub(super) fn parsed(text: &str) -> Option<Coalescing> {
    if text == OFF {
        return Some(Coalescing { completions: 1, wait_us: 0 });
    }
    let (completions, wait) = text.split_once('/')?;
    let set = Coalescing { completions: completions.parse().ok()?, wait_us: wait.strip_suffix("us")?.parse().ok()? };
    let fits = (2..=COMPLETIONS_MAX).contains(&set.completions)
        && (WAIT_UNIT_US..=WAIT_US_MAX).contains(&set.wait_us)
        && set.wait_us.is_multiple_of(WAIT_UNIT_US);
    fits.then_some(set)
}

pub(super) fn node(root: &Root, controller: &str) -> PathBuf {
    root.join("dev").join(controller)
}

/// What distinguishes the drive from a later one of the same name.
pub(super) fn identity(root: &Root, controller: &str) -> Option<String> {
    attribute(&root.join("sys/class/nvme").join(controller).join("serial"))
}

pub(super) fn read(root: &Root, controller: &str, setting: &Setting) -> Result<String, SettingError> {
    let path = node(root, controller);
    if !path.exists() {
        return Err(SettingError::Missing { what: setting.message(), path });
    }
    let asked = Device::open(&path).and_then(|drive| read_by(|command| drive.admin(command)));
    asked.map_err(|source| SettingError::Drive { setting: setting.clone(), source })
}

/// What a drive says, whatever way commands take to it.
fn read_by<E>(ask: impl FnOnce(&AdminCommand) -> Result<(Vec<u8>, u32), E>) -> Result<String, E> {
    let (_, value) = ask(&AdminCommand::get_feature(FeatureId::Coalescing))?;
    Ok(text_of(coalescing(value)))
}

pub(super) fn write(root: &Root, controller: &str, setting: &Setting, value: &str) -> Result<(), SettingError> {
    let set = parsed(value).ok_or_else(|| SettingError::Value {
        what: setting.message(),
        value: value.to_owned(),
        takes: msg!("setting-takes-coalescing"),
    })?;
    let sent = Device::open(&node(root, controller)).and_then(|drive| write_by(set, |command| drive.admin(command)));
    sent.map_err(|source| SettingError::Drive { setting: setting.clone(), source })
}

fn write_by<E>(set: Coalescing, ask: impl FnOnce(&AdminCommand) -> Result<(Vec<u8>, u32), E>) -> Result<(), E> {
    ask(&AdminCommand::set_coalescing(set)).map(|_| ())
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use fathom_nvme::driver::fake::{Behaviour, FakeDrive};
    use fathom_nvme::driver::{Driver, DriverError};
    use proptest::prelude::*;

    use super::*;

    /// No emulated drive has the feature: a controller in memory stands for one that does.
    #[test]
    fn a_drive_that_has_it_is_set_and_gets_back_what_it_had() {
        let drive = FakeDrive::by_itself(Behaviour { has_coalescing: true, ..Behaviour::default() });
        let driver = Driver::start(drive).expect("starts");
        let read = || read_by(|command| driver.ask(command)).expect("answers");
        let write =
            |text: &str| write_by(parsed(text).expect("its words"), |command| driver.ask(command)).expect("takes it");
        let before = read();
        assert_eq!(before, OFF);
        for text in ["8/300us", "2/100us", "256/25500us"] {
            write(text);
            assert_eq!(read(), text);
        }
        write(&before);
        assert_eq!(read(), OFF);
    }

    #[test]
    fn a_drive_that_lacks_it_refuses_and_is_named() {
        let driver = Driver::start(FakeDrive::by_itself(Behaviour::default())).expect("starts");
        let refused = read_by(|command| driver.ask(command)).expect_err("has none");
        assert!(matches!(&refused, DriverError::Refused { .. }), "{refused}");
        assert!(write_by(parsed("8/300us").expect("its words"), |command| driver.ask(command)).is_err());
    }

    #[test]
    fn only_what_the_feature_can_say_is_taken() {
        for text in ["1/100us", "257/100us", "8/0us", "8/150us", "8/25600us", "8/100", "8", "/100us", "on", ""] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(parsed("256/25500us"), Some(Coalescing { completions: 256, wait_us: 25_500 }));
    }

    proptest! {
        #[test]
        fn what_a_drive_says_can_be_said_to_it(value in 0_u32..0x1_0000) {
            let set = coalescing(value);
            let again = parsed(&text_of(set)).expect("its own words");
            prop_assert_eq!(again.is_on(), set.is_on());
            if set.is_on() {
                prop_assert_eq!(AdminCommand::set_coalescing(again).dwords[1], value);
            }
        }
    }
}
