//! Arrays that a step names over drives of the machine: `raid5:64k:sim:MACHINE/nvme-0,...` as Fathom spreads them itself,
//! `md-raid5:...` as Linux md does. They are there for the step alone.

use std::borrow::Cow;

use fathom_message::{Message, msg};
use fathom_plan::{ArrayMaker, ArrayTarget, Step, TargetId};
use fathom_record::{ArrayMember, ArrayRecord, RebuildRecord, StepFailure};

use crate::array::ArrayState;
use crate::build::refused;
use crate::machine::{Array, ArrayController, Machine, MemberRebuild};
use crate::target::{Resolved, target_name};
use crate::world::{Place, World};

impl Machine {
    /// The machine with the array that a target names; `None`: it names none.
    ///
    /// # Errors
    /// What is wrong with the name, or a member that is no drive of this machine.
    pub fn array_of(&self, target: &TargetId) -> Option<Result<Array, Message>> {
        let named = match target.array()? {
            Ok(named) => named,
            Err(error) => return Some(Err(fathom_message::Say::message(&error))),
        };
        Some(self.array_over(target, &named))
    }

    fn array_over(&self, target: &TargetId, named: &ArrayTarget) -> Result<Array, Message> {
        let drive = |member: &TargetId| {
            let part = target_name(member.as_str()).and_then(|name| name.part);
            match part.and_then(|part| self.place_of(part)) {
                Some(Place::Drive(drive)) => Ok(drive as usize),
                _ => Err(msg!("sim-member-no-drive", member = member.as_str().to_owned())),
            }
        };
        let drives = named.members().iter().flatten().map(drive).collect::<Result<Vec<_>, _>>()?;
        // Of a lost one any drive may stand there: it is left alone.
        let any = *drives.first().ok_or_else(|| msg!("sim-no-drive"))?;
        let mut there = drives.iter().copied();
        let members = named.members().iter().map(|m| if m.is_some() { there.next().unwrap_or(any) } else { any });
        let rebuild = named.rebuild().map(|r| MemberRebuild { member: r.member, bytes_per_s: r.bytes_per_s });
        Ok(Array {
            name: target.as_str().to_owned(),
            level: named.layout().level(),
            members: members.collect(),
            // What is rebuilt is not there yet.
            lost: rebuild.map_or(named.missing(), |rebuild| named.missing().with(rebuild.member)),
            rebuild,
            chunk_bytes: named.layout().chunk_bytes(),
            controller: match named.maker() {
                ArrayMaker::UserSpace => ArrayController::UserSpace(self.user_space.clone()),
                ArrayMaker::LinuxMd => ArrayController::Md(self.md.clone()),
            },
        })
    }

    /// The machine with the arrays that a step names.
    pub(crate) fn for_step(&self, step: &Step) -> Result<Cow<'_, Machine>, StepFailure> {
        let mut machine = Cow::Borrowed(self);
        for target in &step.targets {
            let Some(array) = self.array_of(target) else { continue };
            let what = || msg!("sim-target", target = target.as_str().to_owned());
            let array = array.map_err(|why| refused(what(), why, msg!("sim-parts-help")))?;
            machine.to_mut().arrays.push(array);
        }
        Ok(machine)
    }
}

/// What the arrays that the step names did, from the first I/O to the last.
pub(crate) fn array_records(targets: &[Resolved], world: &World) -> Vec<ArrayRecord> {
    let record = |target: &Resolved| {
        let (Place::Array(array), Some(Ok(named))) = (target.place, target.id.array()) else { return None };
        Some(record_of(&target.id, &named, &world.arrays[array as usize], world.end_ns))
    };
    targets.iter().filter_map(record).collect()
}

fn record_of(target: &TargetId, named: &ArrayTarget, state: &ArrayState, took_ns: u64) -> ArrayRecord {
    let tally = &state.tally;
    let [full, reconstruct, modify, recover] = tally.methods;
    let member = |(target, counted): (&Option<TargetId>, &ArrayMember)| ArrayMember {
        target: target.clone(),
        ..counted.clone()
    };
    ArrayRecord {
        target: target.clone(),
        reads: tally.reads,
        writes: tally.writes,
        degraded_reads: tally.degraded_reads,
        member_reads_for_writes: tally.reads_for_writes,
        full_stripe_writes: full,
        reconstruct_writes: reconstruct,
        modify_writes: modify,
        recover_writes: recover,
        load_bytes: tally.load_bytes,
        members: named.members().iter().zip(&tally.members).map(member).collect(),
        rebuild: named.rebuild().map(|asked| RebuildRecord {
            asked_bytes_per_s: asked.bytes_per_s,
            done_bytes: state.rebuilt_bytes(),
            member_bytes: state.member_bytes(),
            took_ns,
            ios: Some(tally.rebuild),
            failure: None,
        }),
    }
}
