//! P and Q of RAID: made, changed and solved for, by the widest vectors that the CPU has. How the field works and what
//! recovery multiplies by is in [`fathom_raid::field`], which also is the reference that the tests hold this against.

#[cfg(feature = "bench")]
mod bench;
mod vectors;

#[cfg(feature = "bench")]
pub use bench::{ParityRate, bench_parity};
use fathom_raid::field;
use vectors::{Vector, Word};

/// The instructions that the parities are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// 64 bits at a time, on every CPU.
    Portable,
    /// SSSE3: 128 bits.
    #[cfg(target_arch = "x86_64")]
    Ssse3,
    /// AVX2: 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with GFNI: 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The widest that this CPU has.
    pub(crate) fn best() -> Instructions {
        Instructions::all().last().copied().unwrap_or(Instructions::Portable)
    }

    /// Those that this CPU has, from the narrowest to the widest.
    pub(crate) fn all() -> Vec<Instructions> {
        #[allow(unused_mut, reason = "other processors have no more")]
        let mut all = vec![Instructions::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let has_512 = std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("gfni");
            let known = [
                (Instructions::Ssse3, std::is_x86_feature_detected!("ssse3")),
                (Instructions::Avx2, std::is_x86_feature_detected!("avx2")),
                (Instructions::Avx512, has_512),
            ];
            all.extend(known.into_iter().filter_map(|(instructions, has)| has.then_some(instructions)));
        }
        all
    }

    /// The word for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Instructions::Portable => "u64",
            #[cfg(target_arch = "x86_64")]
            Instructions::Ssse3 => "ssse3",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "avx512+gfni",
        }
    }
}

/// Computes parities with instructions that this CPU has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parity(Instructions);

/// Calls a generic function with the vectors of the instructions, compiled for the features that these need.
macro_rules! dispatch {
    ($parity:expr, $function:ident ( $($argument:expr),* )) => {
        match $parity.0 {
            // SAFETY: as the caller promises; words need nothing of the CPU.
            Instructions::Portable => unsafe { $function::<Word>($($argument),*) },
            // SAFETY: as the caller promises; `Parity::with` takes only what `all` found on this CPU.
            #[cfg(target_arch = "x86_64")]
            Instructions::Ssse3 => unsafe { wide::ssse3::$function($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { wide::avx2::$function($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { wide::avx512::$function($($argument),*) },
        }
    };
}

impl Parity {
    /// With the best that this CPU has.
    pub(crate) fn new() -> Parity {
        Parity(Instructions::best())
    }

    /// With `instructions`, if this CPU has them.
    #[cfg(test)]
    pub(crate) fn with(instructions: Instructions) -> Option<Parity> {
        Instructions::all().contains(&instructions).then_some(Parity(instructions))
    }

    /// What it computes with.
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }

    /// P, and Q where it is asked for, of `columns` of `len` bytes each.
    ///
    /// # Safety
    /// Each column can be read, and `p` and `q` written, for `len` bytes; the parities lie apart from the columns and from
    /// each other. There is at least one column.
    pub(crate) unsafe fn generate(self, columns: &[*const u8], len: usize, p: *mut u8, q: Option<*mut u8>) {
        match q {
            None => dispatch!(self, generate_p(columns, len, p)),
            Some(q) => dispatch!(self, generate_pq(columns, len, p, q)),
        }
    }

    /// Changes P and Q, each where there is one, by what column `column` changes from `old` to `new`.
    ///
    /// # Safety
    /// `old` and `new` can be read, and the parities written, for `len` bytes, and lie apart.
    pub(crate) unsafe fn modify(
        self,
        (old, new): (*const u8, *const u8),
        len: usize,
        p: Option<*mut u8>,
        q: Option<(*mut u8, u32)>,
    ) {
        if let Some(p) = p {
            dispatch!(self, add_difference(old, new, len, p));
        }
        if let Some((q, column)) = q {
            dispatch!(self, add_difference_times(old, new, len, field::power_of_two(column), q));
        }
    }

    /// Adds `factor` x `from` to `to`.
    ///
    /// # Safety
    /// `from` can be read and `to` written for `len` bytes, and they lie apart.
    pub(crate) unsafe fn add_times(self, factor: u8, from: *const u8, len: usize, to: *mut u8) {
        dispatch!(self, add_product(from, len, factor, to));
    }
}

/// P alone.
///
/// # Safety
/// As [`Parity::generate`], on a CPU that has the vectors.
#[inline(always)]
unsafe fn generate_p<V: Vector>(columns: &[*const u8], len: usize, p: *mut u8) {
    let mut at = 0;
    while at < len {
        // SAFETY: `step` keeps to `len`, for which all pointers are good.
        at += unsafe {
            step::<V>(len - at, |lanes| {
                let mut sum = lanes.load(columns[0].add(at));
                for column in &columns[1..] {
                    sum = sum.add(lanes.load(column.add(at)));
                }
                lanes.store(sum, p.add(at));
            })
        };
    }
}

/// P and Q: from the last column to the first, Q doubles and takes the next (Horner's rule).
///
/// # Safety
/// As [`generate_p`].
#[inline(always)]
unsafe fn generate_pq<V: Vector>(columns: &[*const u8], len: usize, p: *mut u8, q: *mut u8) {
    let (last, others) = columns.split_last().expect("at least one column");
    let mut at = 0;
    // Two vectors at a time: doubling takes longer than it keeps its unit busy.
    while len - at >= 2 * V::BYTES {
        // SAFETY: two vectors are left of `len`, for which all pointers are good.
        unsafe {
            let (mut p0, mut p1) = (V::load(last.add(at)), V::load(last.add(at + V::BYTES)));
            let (mut q0, mut q1) = (p0, p1);
            for column in others.iter().rev() {
                let (d0, d1) = (V::load(column.add(at)), V::load(column.add(at + V::BYTES)));
                p0 = p0.add(d0);
                p1 = p1.add(d1);
                q0 = q0.double().add(d0);
                q1 = q1.double().add(d1);
            }
            p0.store(p.add(at));
            p1.store(p.add(at + V::BYTES));
            q0.store(q.add(at));
            q1.store(q.add(at + V::BYTES));
        }
        at += 2 * V::BYTES;
    }
    while at < len {
        // SAFETY: `step` keeps to `len`, for which all pointers are good.
        at += unsafe {
            step::<V>(len - at, |lanes| {
                let mut sum = lanes.load(last.add(at));
                let mut syndrome = sum;
                for column in others.iter().rev() {
                    let data = lanes.load(column.add(at));
                    sum = sum.add(data);
                    syndrome = syndrome.double().add(data);
                }
                lanes.store(sum, p.add(at));
                lanes.store(syndrome, q.add(at));
            })
        };
    }
}

/// `to` + `old` + `new`.
///
/// # Safety
/// As [`Parity::modify`], on a CPU that has the vectors.
#[inline(always)]
unsafe fn add_difference<V: Vector>(old: *const u8, new: *const u8, len: usize, to: *mut u8) {
    let mut at = 0;
    while at < len {
        // SAFETY: `step` keeps to `len`, for which all pointers are good.
        at += unsafe {
            step::<V>(len - at, |lanes| {
                let difference = lanes.load(old.add(at)).add(lanes.load(new.add(at)));
                lanes.store(lanes.load(to.add(at)).add(difference), to.add(at));
            })
        };
    }
}

/// `to` + `factor` x (`old` + `new`).
///
/// # Safety
/// As [`add_difference`].
#[inline(always)]
unsafe fn add_difference_times<V: Vector>(old: *const u8, new: *const u8, len: usize, factor: u8, to: *mut u8) {
    // SAFETY: the caller's promise about the CPU.
    let factor = unsafe { V::factor(factor) };
    let mut at = 0;
    while at < len {
        // SAFETY: `step` keeps to `len`, for which all pointers are good.
        at += unsafe {
            step::<V>(len - at, |lanes| {
                let difference = lanes.load(old.add(at)).add(lanes.load(new.add(at)));
                lanes.store(lanes.load(to.add(at)).add(difference.times(&factor)), to.add(at));
            })
        };
    }
}

/// `to` + `factor` x `from`.
///
/// # Safety
/// As [`Parity::add_times`], on a CPU that has the vectors.
#[inline(always)]
unsafe fn add_product<V: Vector>(from: *const u8, len: usize, factor: u8, to: *mut u8) {
    // SAFETY: the caller's promise about the CPU.
    let factor = unsafe { V::factor(factor) };
    let mut at = 0;
    while at < len {
        // SAFETY: `step` keeps to `len`, for which all pointers are good.
        at += unsafe {
            step::<V>(len - at, |lanes| {
                lanes.store(lanes.load(to.add(at)).add(lanes.load(from.add(at)).times(&factor)), to.add(at));
            })
        };
    }
}

/// Loads and stores whole vectors, or the bytes that are left at the end.
#[derive(Clone, Copy)]
struct Lanes<V> {
    /// Bytes; a whole vector where there are as many.
    len: usize,
    vector: std::marker::PhantomData<V>,
}

impl<V: Vector> Lanes<V> {
    /// # Safety
    /// `from` can be read for the length of the lanes.
    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> V {
        if self.len == V::BYTES {
            // SAFETY: the caller's promise for a whole vector.
            return unsafe { V::load(from) };
        }
        let mut bytes = [0_u8; 64];
        // SAFETY: `len` < the bytes of a vector, at most 64; the copy may be read for any vector.
        unsafe {
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), self.len);
            V::load(bytes.as_ptr())
        }
    }

    /// # Safety
    /// `to` can be written for the length of the lanes.
    #[inline(always)]
    unsafe fn store(self, vector: V, to: *mut u8) {
        if self.len == V::BYTES {
            // SAFETY: the caller's promise for a whole vector.
            unsafe { vector.store(to) };
            return;
        }
        let mut bytes = [0_u8; 64];
        // SAFETY: as in `load`.
        unsafe {
            vector.store(bytes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, self.len);
        }
    }
}

/// Works on the next vector, or on what is left when it is less; the bytes done.
///
/// # Safety
/// What `work` does with lanes of at most `left` bytes is its own promise.
#[inline(always)]
unsafe fn step<V: Vector>(left: usize, work: impl FnOnce(Lanes<V>)) -> usize {
    let len = left.min(V::BYTES);
    work(Lanes { len, vector: std::marker::PhantomData });
    len
}

/// The generic functions compiled for the features of each set of instructions.
#[cfg(target_arch = "x86_64")]
mod wide {
    macro_rules! compiled_for {
        ($name:ident, $features:literal, $vector:ty) => {
            pub(super) mod $name {
                use super::super::vectors;

                #[target_feature(enable = $features)]
                pub(in super::super) unsafe fn generate_p(columns: &[*const u8], len: usize, p: *mut u8) {
                    // SAFETY: the caller's promise, and the features are those of the vectors.
                    unsafe { super::super::generate_p::<$vector>(columns, len, p) }
                }

                #[target_feature(enable = $features)]
                pub(in super::super) unsafe fn generate_pq(columns: &[*const u8], len: usize, p: *mut u8, q: *mut u8) {
                    // SAFETY: as above.
                    unsafe { super::super::generate_pq::<$vector>(columns, len, p, q) }
                }

                #[target_feature(enable = $features)]
                pub(in super::super) unsafe fn add_difference(old: *const u8, new: *const u8, len: usize, to: *mut u8) {
                    // SAFETY: as above.
                    unsafe { super::super::add_difference::<$vector>(old, new, len, to) }
                }

                #[target_feature(enable = $features)]
                pub(in super::super) unsafe fn add_difference_times(
                    old: *const u8,
                    new: *const u8,
                    len: usize,
                    factor: u8,
                    to: *mut u8,
                ) {
                    // SAFETY: as above.
                    unsafe { super::super::add_difference_times::<$vector>(old, new, len, factor, to) }
                }

                #[target_feature(enable = $features)]
                pub(in super::super) unsafe fn add_product(from: *const u8, len: usize, factor: u8, to: *mut u8) {
                    // SAFETY: as above.
                    unsafe { super::super::add_product::<$vector>(from, len, factor, to) }
                }
            }
        };
    }

    compiled_for!(ssse3, "ssse3", vectors::Ssse3);
    compiled_for!(avx2, "avx2", vectors::Avx2);
    compiled_for!(avx512, "avx512f,avx512bw,gfni", vectors::Avx512);
}

#[cfg(test)]
mod tests;
