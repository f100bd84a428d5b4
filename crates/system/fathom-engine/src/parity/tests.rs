use fathom_raid::field::{inverse, multiply, power_of_two, two_lost};
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::*;

/// Byte by byte, from the definition.
fn reference(columns: &[Vec<u8>], len: usize) -> (Vec<u8>, Vec<u8>) {
    let at = |byte: usize| {
        columns.iter().enumerate().fold((0, 0), |(p, q), (column, data)| {
            (p ^ data[byte], q ^ multiply(power_of_two(column as u32), data[byte]))
        })
    };
    (0..len).map(at).unzip()
}

fn computed(parity: Parity, columns: &[Vec<u8>], len: usize) -> (Vec<u8>, Vec<u8>) {
    let pointers: Vec<*const u8> = columns.iter().map(Vec::as_ptr).collect();
    let (mut p, mut q) = (vec![0; len], vec![0; len]);
    // SAFETY: all have `len` bytes of their own.
    unsafe { parity.generate(&pointers, len, p.as_mut_ptr(), Some(q.as_mut_ptr())) };
    let mut alone = vec![0; len];
    // SAFETY: as above.
    unsafe { parity.generate(&pointers, len, alone.as_mut_ptr(), None) };
    assert_eq!(alone, p, "P beside Q and P alone");
    (p, q)
}

fn add_times(parity: Parity, factor: u8, from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len());
    // SAFETY: both have that length, and one is borrowed alone.
    unsafe { parity.add_times(factor, from.as_ptr(), from.len(), to.as_mut_ptr()) };
}

fn all() -> impl Iterator<Item = Parity> {
    Instructions::all().into_iter().map(|i| Parity::with(i).expect("found on this CPU"))
}

/// Data that differs in every byte and column.
fn columns(count: usize, len: usize, seed: u64) -> Vec<Vec<u8>> {
    (0..count)
        .map(|column| {
            let mut rng = fathom_random::Rng::new(seed, column as u64);
            (0..len).map(|_| rng.next_u64() as u8).collect()
        })
        .collect()
}

#[test]
fn each_cpu_has_the_portable_way_and_the_best_is_the_last() {
    assert_eq!(Instructions::all()[0], Instructions::Portable);
    assert_eq!(Parity::new().instructions(), *Instructions::all().last().expect("one"));
}

proptest! {
    #[test]
    fn parities_are_those_of_the_reference(count in 1_usize..20, len in 0_usize..700, seed in any::<u64>()) {
        let columns = columns(count, len, seed);
        let expected = reference(&columns, len);
        for parity in all() {
            prop_assert_eq!(&computed(parity, &columns, len), &expected, "{:?}", parity);
        }
    }

    #[test]
    fn a_changed_column_changes_the_parities_to_those_of_the_new_data(
        count in 1_usize..20, len in 1_usize..400, changed in 0_usize..20, seed in any::<u64>(),
    ) {
        let mut columns = columns(count + 1, len, seed);
        let new = columns.pop().expect("one more");
        let changed = changed % count;
        for parity in all() {
            let (mut p, mut q) = computed(parity, &columns, len);
            let old = &columns[changed];
            let (p_at, q_at) = (Some(p.as_mut_ptr()), Some((q.as_mut_ptr(), changed as u32)));
            // SAFETY: all have `len` bytes of their own.
            unsafe { parity.modify((old.as_ptr(), new.as_ptr()), len, p_at, q_at) };
            let mut after = columns.clone();
            after[changed].clone_from(&new);
            prop_assert_eq!((p, q), reference(&after, len), "{:?}", parity);
        }
    }

    #[test]
    fn any_one_or_two_lost_columns_come_back(count in 2_usize..20, len in 1_usize..300, seed in any::<u64>(), a in 0_usize..20, b in 0_usize..20) {
        let columns = columns(count, len, seed);
        let (x, y) = ((a % count).min(b % count), (a % count).max(b % count));
        for parity in all() {
            let (p, q) = computed(parity, &columns, len);
            let mut left = columns.clone();
            left[x].fill(0);
            left[y].fill(0);
            let (mut of_left_p, mut of_left_q) = computed(parity, &left, len);
            add_times(parity, 1, &p, &mut of_left_p);
            add_times(parity, 1, &q, &mut of_left_q);
            let mut back = vec![0; len];
            if x == y {
                // P is lost as well.
                add_times(parity, inverse(power_of_two(x as u32)), &of_left_q, &mut back);
                prop_assert_eq!(&back, &columns[x]);
                prop_assert_eq!(&of_left_p, &columns[x], "from P alone");
            } else {
                let (of_p, of_q) = two_lost(x as u32, y as u32);
                add_times(parity, of_p, &of_left_p, &mut back);
                add_times(parity, of_q, &of_left_q, &mut back);
                prop_assert_eq!(&back, &columns[x]);
                add_times(parity, 1, &back, &mut of_left_p);
                prop_assert_eq!(&of_left_p, &columns[y]);
            }
        }
    }
}
