use super::*;
use crate::closed::OpModel;

fn shape(read_share: f64, block_bytes: f64, members: u32) -> Shape {
    Shape {
        read_share,
        block_bytes,
        sequential: false,
        drives: members,
        threads: 1,
        in_flight: 4096,
        siblings_first: false,
        buffered: false,
        rate_iops: None,
    }
}

fn drive() -> DeviceModel {
    let op = |iops: f64| OpModel { units: 1e3, unit_ns: 80_000.0, stage_ns: 1e9 / iops, fixed_ns: 10_000.0 };
    DeviceModel {
        name: "some".into(),
        read: op(1e6),
        write: Some(op(130e3)),
        read_bytes_per_s: Some(7e9),
        write_bytes_per_s: Some(4e9),
        random_write_bytes_per_s: None,
        link: Some(PcieLink::new(4, 4)),
        assumed: Vec::new(),
        sheet: None,
    }
}

fn raid(level: RaidLevel, missing: u32) -> RaidModel {
    RaidModel { missing, ..RaidModel::of(level) }
}

fn machine(raid: RaidModel) -> MachineModel {
    MachineModel { device: Some(drive()), raid: Some(raid), ..MachineModel::unknown() }
}

/// The member of each 4k block of a few stripes by hand: RAID 5 and 6 as a drawn table, each small write by the rule of
/// the fewest member I/Os, written down block by block.
fn slow_small_write(members: u32, parities: u32, lost: &[u32]) -> Vec<(f64, f64)> {
    let data = members - parities;
    let mut all = vec![(0.0, 0.0); members as usize];
    let rows = members;
    for row in 0..rows {
        let p = members - 1 - row;
        let parity: Vec<u32> = (0..parities).map(|i| (p + i) % members).collect();
        let columns: Vec<u32> = (0..data).map(|c| (p + parities + c) % members).collect();
        let alive = |m: &u32| !lost.contains(m);
        for target in &columns {
            let parity_left: Vec<u32> = parity.iter().copied().filter(alive).collect();
            let others: Vec<u32> = columns.iter().copied().filter(|c| c != target).collect();
            // What may be read: the rest of the row, or the old data with the parities, or all that is left.
            let mut ways: Vec<Vec<u32>> = Vec::new();
            if others.iter().all(alive) {
                ways.push(others.clone());
            }
            if alive(target) {
                let old = [&[*target][..], &parity_left[..]].concat();
                ways.push(if parity_left.is_empty() { Vec::new() } else { old });
            }
            ways.push(columns.iter().copied().filter(alive).chain(parity_left.iter().copied()).collect());
            let way = ways.into_iter().min_by_key(Vec::len).expect("a way");
            way.iter().for_each(|m| all[*m as usize].0 += 1.0);
            [*target].iter().filter(|m| alive(m)).chain(&parity_left).for_each(|m| all[*m as usize].1 += 1.0);
        }
    }
    let places = f64::from(rows * data);
    all.into_iter().map(|(r, w)| (r / places, w / places)).collect()
}

#[test]
fn small_writes_of_parity_levels_cost_what_a_table_by_hand_says() {
    for (level, parities) in [(RaidLevel::Raid5, 1), (RaidLevel::Raid6, 2)] {
        for members in parities + 2..10 {
            for missing in 0..=parities {
                let lost: Vec<u32> = (0..missing).collect();
                let work = member_work(&raid(level, missing), &shape(0.0, 4096.0, members)).expect("an array");
                for (member, (got, (reads, writes))) in
                    work.iter().zip(slow_small_write(members, parities, &lost)).enumerate()
                {
                    let what = format!("{level:?} of {members} without {lost:?}, member {member}: {got:?}");
                    assert!((got.reads - reads).abs() < 1e-9, "{what} {reads}");
                    assert!((got.writes - writes).abs() < 1e-9, "{what} {writes}");
                    assert!((got.written_bytes - 4096.0 * writes).abs() < 1e-6, "{what}");
                }
            }
        }
    }
}

#[test]
fn whole_arrays_cost_one_two_four_and_six() {
    for (level, reads, writes) in [
        (RaidLevel::Raid0, 0.0, 1.0),
        (RaidLevel::Raid10, 0.0, 2.0),
        (RaidLevel::Raid5, 2.0, 2.0),
        (RaidLevel::Raid6, 3.0, 3.0),
    ] {
        let cost = sum(&member_work(&raid(level, 0), &shape(0.0, 4096.0, 8)).expect("an array"));
        assert!((cost.reads - reads).abs() < 1e-9 && (cost.writes - writes).abs() < 1e-9, "{level:?}: {cost:?}");
        assert!((level.write_penalty(8) - reads - writes).abs() < 1e-9);
    }
    let mirror = sum(&member_work(&raid(RaidLevel::Raid1, 0), &shape(0.0, 4096.0, 3)).expect("an array"));
    assert_eq!((mirror.reads, mirror.writes), (0.0, 3.0));
}

/// RAID 5 without a member: its reads are on each other member twice as dense; RAID 10: the twin does all of its pair's.
#[test]
fn the_busiest_member_bounds_a_degraded_array() {
    let x = |level, missing, read_share| {
        let m = machine(raid(level, missing));
        predicted(&m, &shape(read_share, 4096.0, 8), None).and_then(|p| p.member_iops).expect("known")
    };
    for level in [RaidLevel::Raid10, RaidLevel::Raid5] {
        assert!((x(level, 0, 1.0) / x(level, 1, 1.0) - 2.0).abs() < 1e-9, "{level:?}");
    }
    assert!((x(RaidLevel::Raid1, 0, 1.0) / x(RaidLevel::Raid1, 4, 1.0) - 2.0).abs() < 1e-9);
    assert!(x(RaidLevel::Raid6, 2, 1.0) < x(RaidLevel::Raid6, 1, 1.0));
    assert_eq!(member_work(&raid(RaidLevel::Raid0, 1), &shape(1.0, 4096.0, 8)), None);
    assert_eq!(member_work(&raid(RaidLevel::Raid5, 2), &shape(1.0, 4096.0, 8)), None);
    assert_eq!(member_work(&raid(RaidLevel::Raid5, 0), &shape(1.0, 4096.0, 2)), None);
}

#[test]
fn a_write_of_a_whole_stripe_reads_nothing_and_a_stream_is_put_together_where_there_is_a_cache() {
    let stripe = 7.0 * 65_536.0;
    let whole = predicted(&machine(raid(RaidLevel::Raid5, 0)), &shape(0.0, stripe, 8), None).expect("an array");
    assert_eq!((whole.member_reads, whole.member_writes), (0.0, 8.0));
    assert!((whole.written_per_byte.expect("writes") - 8.0 / 7.0).abs() < 1e-9);
    let stream = Shape { sequential: true, ..shape(0.0, 65_536.0, 8) };
    let merged = predicted(&machine(raid(RaidLevel::Raid5, 0)), &stream, None).expect("an array");
    assert!((merged.written_per_byte.expect("writes") - 8.0 / 7.0).abs() < 1e-9 && merged.member_reads == 0.0);
    let own = RaidModel { maker: RaidMaker::UserSpace, ..RaidModel::of(RaidLevel::Raid5) };
    let each = predicted(&machine(own), &stream, None).expect("an array");
    assert_eq!((each.member_reads, each.member_writes), (2.0, 2.0));
    assert!(each.member_iops < merged.member_iops);
}

/// What a card can do bounds its array, and the part that binds is told.
#[test]
fn the_part_that_binds_is_told() {
    let bound = |maker: RaidMaker, read_share: f64, block: f64| {
        let m = machine(RaidModel { maker, ..RaidModel::of(RaidLevel::Raid5) });
        crate::predict(&m, &shape(read_share, block, 8)).and_then(|p| p.array).and_then(|a| a.part)
    };
    let bare = CardModel::named("card");
    let with = |card: CardModel| RaidMaker::Card(card);
    let linked = CardModel { link: Some(PcieLink::new(4, 8)), ..bare.clone() };
    let parity = CardModel { parity_update_ns: Some(5_200.0), ..linked.clone() };
    assert_eq!(bound(with(bare), 0.0, 4096.0), Some(ArrayPart::Member));
    assert_eq!(bound(with(linked.clone()), 1.0, 4096.0), Some(ArrayPart::CardLink));
    assert_eq!(bound(with(parity), 0.0, 4096.0), Some(ArrayPart::Card));
    assert_eq!(bound(RaidMaker::Md(MdModel::of_stripe(Some(20_000.0))), 0.0, 4096.0), Some(ArrayPart::MdThread));
    assert_eq!(bound(RaidMaker::UserSpace, 1.0, 131_072.0), Some(ArrayPart::MemberLink));
}

/// Flash moves old data for each byte of random writes: twice the block is half the rate, long before the bandwidth.
#[test]
fn larger_random_writes_cost_flash_by_their_bytes() {
    let flash = DeviceModel { random_write_bytes_per_s: Some(130e3 * 4096.0), ..drive() };
    let x = |block: f64| {
        let m = MachineModel { device: Some(flash.clone()), ..machine(raid(RaidLevel::Raid10, 0)) };
        predicted(&m, &shape(0.0, block, 8), None).and_then(|p| p.member_iops).expect("known")
    };
    assert!((x(4096.0) / x(8192.0) - 2.0).abs() < 1e-9);
}
