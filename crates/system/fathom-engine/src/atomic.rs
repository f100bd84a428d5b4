//! Whether a target can write atomically (RWF_ATOMIC), and how much at once.

use fathom_message::{Quantity, msg};
use fathom_plan::Workload;
use fathom_record::StepFailure;

use crate::backend::refused;
use crate::system::{AsFd, targets};
use crate::target::{Target, target_message};

/// Bytes of an atomic write: a power of two between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Units {
    min_bytes: u32,
    max_bytes: u32,
}

/// Sees that `target` can do the writes of `workload` atomically.
///
/// # Errors
/// A refusal that names the target and what it can do.
pub(crate) fn check(target: &Target, workload: &Workload) -> Result<(), StepFailure> {
    let fd = target.open()?;
    let refusal = |why| Err(refused(target_message(&target.id), why, msg!("engine-atomic-help")));
    let Some(units) = units_of(&fd).filter(|units| units.max_bytes > 0) else {
        return refusal(msg!("engine-not-atomic"));
    };
    let sizes = workload.order.write_sizes.as_ref().unwrap_or(&workload.block_sizes).iter().map(|size| size.bytes);
    let of_range = workload.order.range.map(|range| range.min_bytes);
    match sizes.chain(of_range).find(|bytes| !fits(*bytes, units)) {
        None => Ok(()),
        Some(bytes) => {
            let block = |bytes: u32| Quantity::block(bytes.into());
            let (min, max) = (block(units.min_bytes), block(units.max_bytes));
            refusal(msg!("engine-atomic-size", block = block(bytes), min = min, max = max))
        }
    }
}

fn fits(bytes: u32, units: Units) -> bool {
    bytes.is_power_of_two() && (units.min_bytes..=units.max_bytes).contains(&bytes)
}

/// `None`: the kernel does not tell.
fn units_of(fd: &impl AsFd) -> Option<Units> {
    let (min_bytes, max_bytes) = targets::atomic_bytes(fd)?;
    Some(Units { min_bytes, max_bytes })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_size_is_a_power_of_two_within_what_the_target_takes() {
        let units = Units { min_bytes: 4_096, max_bytes: 65_536 };
        assert!([4_096, 8_192, 65_536].iter().all(|bytes| fits(*bytes, units)));
        assert!(![512, 12_288, 131_072].iter().any(|bytes| fits(*bytes, units)));
    }

    #[test]
    fn a_pipe_has_no_atomic_writes() -> io::Result<()> {
        let (reader, _writer) = io::pipe()?;
        assert!(units_of(&reader).is_none_or(|units| units.max_bytes == 0));
        Ok(())
    }
}
