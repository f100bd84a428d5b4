//! Arrays that a study makes of its targets: how the knobs `array`, `chunk` and `missing` become the one target of a step.

use fathom_message::{Message, Quantity, Say, msg};
use fathom_raid::Layout;
use fathom_units::format_block;

use crate::array::{ArrayNameError, MadeLevel, Rebuild};
use crate::file_service::{BLOCK_FILES_MAX, BlockFiles};
use crate::knobs::{BLOCK_BYTES_MAX, KnobError};
use crate::step::{BlockSize, Step, TargetId};

/// Chunk of an array of which nothing is said: that of most cards.
const CHUNK_BYTES: u64 = 64 << 10;

/// A block as long as a part of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOf {
    /// What lies on one member before the next comes.
    Chunk,
    /// A chunk of each member that holds data: a write of it reads nothing.
    Stripe,
}

/// What is made of the targets of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrangement {
    /// `None`: they stay as they are.
    pub(crate) level: Option<MadeLevel>,
    pub(crate) chunk_bytes: Option<u64>,
    /// So many of the last members are lost.
    pub(crate) missing: u32,
    /// The last member that is there is rebuilt meanwhile, at so many bytes a second or as fast as can be.
    pub(crate) rebuild: Option<Option<u64>>,
    /// `None`: blocks are as long as the other knobs say.
    pub(crate) block: Option<BlockOf>,
    /// It is made of the first so many targets; `None`: of all.
    pub(crate) devices: Option<u32>,
    /// They are folders, in which the step works on files.
    pub(crate) files: Option<BlockFiles>,
}

impl Arrangement {
    fn chunk(&self) -> u64 {
        self.chunk_bytes.unwrap_or(CHUNK_BYTES)
    }

    /// Bytes of a block that is as long as a part of the array over `targets`; `None`: other knobs say how long it is.
    ///
    /// # Errors
    /// A stripe without an array, or one that is no block.
    pub(crate) fn block_bytes(&self, targets: &[TargetId]) -> Result<Option<u32>, KnobError> {
        let bytes = match (self.block, self.level) {
            (None, _) => return Ok(None),
            (Some(BlockOf::Chunk), _) => self.chunk(),
            (Some(BlockOf::Stripe), None) => {
                return Err(error("bs", msg!("knob-stripe-without-array"), msg!("knob-stripe-without-array-help")));
            }
            (Some(BlockOf::Stripe), Some(level)) => {
                let members = self.first(targets).len() as u32;
                // What is wrong with the array is said where it is made.
                let layout = Layout::new(level.level, members, self.chunk()).ok();
                layout.map_or(self.chunk(), |layout| layout.stripe_bytes())
            }
        };
        match u32::try_from(bytes).ok().filter(|bytes| *bytes <= BLOCK_BYTES_MAX) {
            Some(bytes) => Ok(Some(bytes)),
            None => {
                let (block, max) = (Quantity::block(bytes), Quantity::block(BLOCK_BYTES_MAX.into()));
                Err(error("chunk", msg!("knob-stripe-too-long", block = block, max = max), msg!("array-chunk-help")))
            }
        }
    }

    /// The array over `targets`; `None`: they stay as they are.
    ///
    /// # Errors
    /// Why they make none.
    pub(crate) fn array(&self, targets: &[TargetId]) -> Option<Result<TargetId, ArrayNameError>> {
        let (level, members) = (self.level?, self.first(targets));
        let there = members.len().saturating_sub(self.missing as usize);
        let speed = self.rebuild.map(|speed| speed.map_or_else(|| Rebuild::FULL.to_owned(), format_block));
        let name = |(at, member): (usize, &TargetId)| match &speed {
            _ if at >= there => TargetId::MISSING.to_owned(),
            Some(speed) if at + 1 == there => format!("{speed}+{}", member.as_str()),
            _ => member.as_str().to_owned(),
        };
        let names = (0..).zip(members).map(name).collect::<Vec<_>>().join(",");
        let array = TargetId::new(format!("{level}:{}:{names}", format_block(self.chunk())));
        match array.array() {
            Some(Err(wrong)) => Some(Err(wrong)),
            _ => Some(Ok(array)),
        }
    }

    /// Puts the step on the first of `targets` that it asks for, or on the array over them.
    ///
    /// # Errors
    /// What they are no array for; a block that cannot be.
    pub(crate) fn put_on(&self, step: &mut Step, targets: &[TargetId]) -> Result<(), KnobError> {
        if let Some(bytes) = self.block_bytes(targets)? {
            step.workload.block_sizes = vec![BlockSize { bytes, share_pct: 100 }];
        }
        let members = self.first(targets);
        let Some(array) = self.array(targets) else {
            if self.missing > 0 {
                return Err(error(
                    "missing",
                    msg!("knob-missing-without-array"),
                    msg!("knob-missing-without-array-help"),
                ));
            }
            step.targets = members.to_vec();
            return self.files.map_or(Ok(()), |files| put_on_files(step, files));
        };
        if self.files.is_some() {
            return Err(error("nrfiles", msg!("knob-files-of-array"), msg!("knob-files-of-array-help")));
        }
        let array = array.map_err(|wrong| {
            error("array", wrong.message(), wrong.help().unwrap_or_else(|| msg!("array-form-help")))
        })?;
        // Fewer members than asked for are kept as an order that the run refuses by name.
        step.role.devices = self.devices.filter(|wanted| *wanted as usize > members.len());
        step.targets = vec![array];
        Ok(())
    }

    /// Whether the step's targets are made of those that it is given.
    pub(crate) fn makes_targets(&self) -> bool {
        self.level.is_some() || self.files.is_some()
    }

    /// The targets that are used.
    fn first<'t>(&self, targets: &'t [TargetId]) -> &'t [TargetId] {
        &targets[..targets.len().min(self.devices.map_or(usize::MAX, |n| n as usize))]
    }
}

fn put_on_files(step: &mut Step, files: BlockFiles) -> Result<(), KnobError> {
    let count = files.count(step.targets.len() as u32);
    if count > u64::from(BLOCK_FILES_MAX) {
        let message = msg!("knob-too-many-files", files = count, max = BLOCK_FILES_MAX);
        return Err(error("nrfiles", message, msg!("knob-too-many-files-help")));
    }
    files.put_on(step);
    Ok(())
}

fn error(key: &str, message: Message, help: Message) -> KnobError {
    KnobError { key: key.to_owned(), unknown_key: false, message, help: Some(help) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::Knobs;

    fn step(words: &[(&str, &str)], members: usize) -> Result<Step, KnobError> {
        let mut knobs = Knobs::new();
        words.iter().try_for_each(|(key, value)| knobs.set(key, value))?;
        let targets: Vec<TargetId> = ["/a", "/b", "/c", "/d"].into_iter().take(members).map(TargetId::new).collect();
        knobs.build(0, "A", &targets, &mut Vec::new())
    }

    #[test]
    fn an_array_is_the_one_target_of_its_step() {
        let made = step(&[("array", "raid6"), ("chunk", "128k"), ("rw", "write"), ("bs", "stripe")], 4).expect("fits");
        assert_eq!(made.targets, [TargetId::new("raid6:128k:/a,/b,/c,/d")]);
        assert_eq!(made.label, "256k sequential write on raid6:128k x4 T1 QD1");
        let lost = step(&[("array", "raid5"), ("missing", "1")], 4).expect("does without one");
        assert_eq!(lost.label, "4k random read on raid5:64k x4 without 1 T1 QD1");
        let fewer = step(&[("array", "raid10"), ("devices", "2"), ("bs", "stripe")], 4).expect("a mirror");
        assert_eq!((fewer.targets[0].as_str(), fewer.role.devices), ("raid10:64k:/a,/b", None));
        assert_eq!(fewer.workload.block_bytes_max(), 64 << 10);
        let md = step(&[("array", "md-raid10"), ("chunk", "16k")], 4).expect("by md");
        assert_eq!(md.label, "4k random read on md-raid10:16k x4 T1 QD1");
        let rebuilt = step(&[("array", "md-raid5"), ("rebuild", "20m")], 3).expect("by md");
        assert_eq!(rebuilt.targets[0].as_str(), "md-raid5:64k:/a,/b,20m+/c");
        let apart = step(&[("array", "none"), ("bs", "chunk")], 3).expect("members");
        assert_eq!((apart.targets.len(), apart.workload.block_bytes_max()), (3, 64 << 10));
    }

    #[test]
    fn the_last_word_on_sizes_holds() {
        let split = step(&[("array", "raid5"), ("bs", "stripe"), ("bssplit", "4k/50:8k/50")], 4).expect("a split");
        assert_eq!(split.workload.block_bytes_max(), 8 << 10);
        let range = step(&[("array", "raid5"), ("bs", "chunk"), ("bsrange", "4k-16k")], 4).expect("a range");
        assert_eq!(range.workload.block_bytes_max(), 16 << 10);
    }

    #[test]
    fn what_is_no_array_is_said_with_the_knob_to_change() {
        for (words, members, key) in [
            (&[("array", "raid5")][..], 2, "array"),
            (&[("array", "raid7")], 4, "array"),
            (&[("array", "raid0"), ("missing", "1")], 4, "array"),
            (&[("chunk", "48k")], 4, "chunk"),
            (&[("bs", "stripe")], 4, "bs"),
            (&[("missing", "1")], 4, "missing"),
            (&[("array", "raid0"), ("chunk", "32m"), ("bs", "stripe")], 4, "chunk"),
        ] {
            let error = step(words, members).expect_err("is wrong");
            assert_eq!(error.key, key, "{words:?}");
            assert!(error.help.is_some(), "{words:?}");
        }
    }
}
