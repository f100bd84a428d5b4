//! CPUs as `GetLogicalProcessorInformationEx` lists them, and as the processor names itself.

use super::calls::GROUP_CPUS;
use crate::cpu::Cpu;

/// `LOGICAL_PROCESSOR_RELATIONSHIP` (winnt.h).
const CORE: u32 = 0;
const NUMA_NODE: u32 = 1;
const PACKAGE: u32 = 3;
/// Before the CPUs of a core or package: flags, efficiency class, reserved bytes, and how many masks there are.
const MASK_COUNT_AT: usize = 8 + 22;
const MASKS_AT: usize = 8 + 24;
/// The same of a NUMA node, whose number comes first; versions before 20348 have no count, and one mask.
const NODE_NUMBER_AT: usize = 8;
const NODE_MASK_COUNT_AT: usize = 8 + 22;
/// `GROUP_AFFINITY`.
const MASK_BYTES: usize = 16;

/// CPUs of an entry, ascending: those of its masks.
fn cpus_of(entry: &[u8], count: usize) -> Vec<u32> {
    let mut out = Vec::new();
    for at in (0..count).map(|index| MASKS_AT + index * MASK_BYTES) {
        let mask = entry.get(at..at + 8).and_then(|b| b.first_chunk().copied()).map(u64::from_le_bytes);
        let group = entry.get(at + 8..at + 10).and_then(|b| b.first_chunk().copied()).map(u16::from_le_bytes);
        let (Some(mask), Some(group)) = (mask, group) else { break };
        out.extend((0..GROUP_CPUS).filter(|bit| mask >> bit & 1 == 1).map(|bit| u32::from(group) * GROUP_CPUS + bit));
    }
    out.sort_unstable();
    out
}

fn u16_at(entry: &[u8], at: usize) -> Option<u16> {
    entry.get(at..at + 2)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(entry: &[u8], at: usize) -> Option<u32> {
    entry.get(at..at + 4)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Entries with what they tell of: each says its own length. What is cut short or says nonsense ends the list.
fn entries(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut out = Vec::new();
    while let (Some(relation), Some(length)) = (u32_at(bytes, 0), u32_at(bytes, 4)) {
        let length = length as usize;
        if length < 8 || length > bytes.len() {
            break;
        }
        out.push((relation, &bytes[..length]));
        bytes = &bytes[length..];
    }
    out
}

/// The CPUs of a list of relations (`SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX`), ascending. What has no package or node is of
/// the first.
pub(super) fn cpus_in(bytes: &[u8]) -> Vec<Cpu> {
    let entries = entries(bytes);
    let of = |relation: u32| entries.iter().filter(move |(found, _)| *found == relation).map(|(_, entry)| *entry);
    let masks = |entry: &[u8], at: usize| cpus_of(entry, u16_at(entry, at).map_or(0, usize::from));
    let packages: Vec<Vec<u32>> = of(PACKAGE).map(|entry| masks(entry, MASK_COUNT_AT)).collect();
    let node = |entry: &[u8]| {
        let count = u16_at(entry, NODE_MASK_COUNT_AT).map_or(1, usize::from).max(1);
        (u32_at(entry, NODE_NUMBER_AT).unwrap_or(0), cpus_of(entry, count))
    };
    let nodes: Vec<(u32, Vec<u32>)> = of(NUMA_NODE).map(node).collect();
    let mut out = Vec::new();
    for (core, siblings) in of(CORE).map(|entry| masks(entry, MASK_COUNT_AT)).enumerate() {
        for &id in &siblings {
            out.push(Cpu {
                id,
                core: core as u32,
                package: packages.iter().position(|cpus| cpus.contains(&id)).unwrap_or(0) as u32,
                node: nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(number, _)| *number),
                siblings: siblings.clone(),
                allowed: true,
            });
        }
    }
    out.sort_by_key(|cpu| cpu.id);
    out.dedup_by_key(|cpu| cpu.id);
    out
}

/// Texts of four registers each, by CPUID.
#[cfg(target_arch = "x86_64")]
fn text_of(leaves: &[u32], registers: fn(std::arch::x86_64::CpuidResult) -> [u32; 4]) -> String {
    let words = leaves.iter().flat_map(|leaf| registers(std::arch::x86_64::__cpuid(*leaf)));
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// The processor's name for itself; empty where it has none.
#[cfg(target_arch = "x86_64")]
pub(super) fn brand() -> String {
    let highest = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    if highest < 0x8000_0004 {
        return String::new();
    }
    text_of(&[0x8000_0002, 0x8000_0003, 0x8000_0004], |r| [r.eax, r.ebx, r.ecx, r.edx])
}

/// What the hypervisor below calls itself; `None` on the machine itself.
#[cfg(target_arch = "x86_64")]
pub(super) fn hypervisor() -> Option<String> {
    const IS_GUEST: u32 = 1 << 31;
    let is_guest = std::arch::x86_64::__cpuid(1).ecx & IS_GUEST != 0;
    is_guest.then(|| text_of(&[0x4000_0000], |r| [r.ebx, r.ecx, r.edx, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An entry of the documented layout; made, not recorded from a machine.
    fn entry(relation: u32, node: u32, masks: &[(u64, u16)]) -> Vec<u8> {
        let mut out = Vec::new();
        let length = MASKS_AT + masks.len() * MASK_BYTES;
        out.extend(relation.to_le_bytes());
        out.extend((length as u32).to_le_bytes());
        out.extend(node.to_le_bytes());
        out.resize(MASK_COUNT_AT, 0);
        out.extend((masks.len() as u16).to_le_bytes());
        for (mask, group) in masks {
            out.extend(mask.to_le_bytes());
            out.extend(group.to_le_bytes());
            out.extend([0; 6]);
        }
        out
    }

    #[test]
    fn two_packages_with_siblings_in_two_groups_are_read() {
        let mut bytes = Vec::new();
        for group in 0..2 {
            for core in 0..2 {
                bytes.extend(entry(CORE, 0, &[(0b11 << (2 * core), group)]));
            }
            bytes.extend(entry(PACKAGE, 0, &[(0b1111, group)]));
            bytes.extend(entry(NUMA_NODE, u32::from(group), &[(0b1111, group)]));
        }
        // A cache, of which nothing is taken.
        bytes.extend(entry(2, 7, &[(1, 0)]));
        let cpus = cpus_in(&bytes);
        assert_eq!(cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>(), [0, 1, 2, 3, 64, 65, 66, 67]);
        let last = &cpus[7];
        assert_eq!((last.core, last.package, last.node, &last.siblings[..]), (3, 1, 1, &[66, 67][..]));
    }

    #[test]
    fn a_node_without_a_count_has_one_mask() {
        let mut node = entry(NUMA_NODE, 3, &[(0b1, 0)]);
        node[NODE_MASK_COUNT_AT] = 0;
        let cpus = cpus_in(&[entry(CORE, 0, &[(0b1, 0)]), node].concat());
        assert_eq!((cpus.len(), cpus[0].node), (1, 3));
    }

    proptest! {
        #[test]
        fn nonsense_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = cpus_in(&bytes);
        }

        #[test]
        fn a_list_that_is_cut_short_loses_its_end_alone(at in 0_usize..144) {
            let whole: Vec<u8> = (0..3).flat_map(|core| entry(CORE, 0, &[(1 << core, 0)])).collect();
            prop_assert_eq!(cpus_in(&whole[..at]).len(), at / 48);
        }
    }
}
