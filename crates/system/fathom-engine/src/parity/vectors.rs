//! Vectors of bytes that are added and multiplied in the field of Q.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_add_epi8, _mm_and_si128, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_set1_epi8,
    _mm_setzero_si128, _mm_shuffle_epi8, _mm_srli_epi64, _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi8,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    _mm512_gf2p8affine_epi64_epi8, _mm512_loadu_si512, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_xor_si512,
};

use fathom_raid::field::{self, POLYNOMIAL};

/// A vector of bytes, each an element of the field.
///
/// Methods are inlined into functions that are compiled for the features that they need; called anywhere else they are
/// undefined on a CPU without them, which makes all of them unsafe.
pub(super) trait Vector: Copy {
    /// Bytes of a vector, at most 64.
    const BYTES: usize;
    /// An element prepared for multiplication.
    type Factor;

    /// # Safety
    /// `from` can be read for a vector; the CPU has the features.
    unsafe fn load(from: *const u8) -> Self;
    /// # Safety
    /// `to` can be written for a vector; the CPU has the features.
    unsafe fn store(self, to: *mut u8);
    /// # Safety
    /// The CPU has the features.
    unsafe fn add(self, other: Self) -> Self;
    /// # Safety
    /// The CPU has the features.
    unsafe fn double(self) -> Self;
    /// # Safety
    /// The CPU has the features.
    unsafe fn factor(c: u8) -> Self::Factor;
    /// # Safety
    /// The CPU has the features.
    unsafe fn times(self, factor: &Self::Factor) -> Self;
}

/// Eight bytes in a register that every CPU has.
#[derive(Clone, Copy)]
pub(super) struct Word(u64);

impl Word {
    const TOP_BITS: u64 = 0x8080_8080_8080_8080;
}

impl Vector for Word {
    const BYTES: usize = 8;
    type Factor = u8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Word(unsafe { from.cast::<u64>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u64>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Word(self.0 ^ other.0)
    }

    #[inline(always)]
    unsafe fn double(self) -> Self {
        let top = self.0 & Self::TOP_BITS;
        // 0xff in each byte that overflows.
        let mask = (top << 1).wrapping_sub(top >> 7);
        let polynomial = u64::from(POLYNOMIAL) * 0x0101_0101_0101_0101;
        Word(((self.0 & !Self::TOP_BITS) << 1) ^ (mask & polynomial))
    }

    #[inline(always)]
    unsafe fn factor(c: u8) -> u8 {
        c
    }

    #[inline(always)]
    unsafe fn times(self, factor: &u8) -> Self {
        let mut product = Word(0);
        for bit in (0..8).rev() {
            // SAFETY: words need nothing of the CPU.
            product = unsafe { product.double() };
            product.0 ^= self.0 & 0_u64.wrapping_sub(u64::from(factor >> bit & 1));
        }
        product
    }
}

/// 128 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Ssse3(__m128i);

#[cfg(target_arch = "x86_64")]
impl Vector for Ssse3 {
    const BYTES: usize = 16;
    type Factor = [__m128i; 2];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Ssse3(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        Ssse3(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn double(self) -> Self {
        // SAFETY: the caller's promise.
        Ssse3(unsafe {
            let overflow = _mm_cmpgt_epi8(_mm_setzero_si128(), self.0);
            let carry = _mm_and_si128(overflow, _mm_set1_epi8(POLYNOMIAL as i8));
            _mm_xor_si128(_mm_add_epi8(self.0, self.0), carry)
        })
    }

    #[inline(always)]
    unsafe fn factor(c: u8) -> Self::Factor {
        let (low, high) = field::half_byte_products(c);
        // SAFETY: both tables have 16 bytes.
        unsafe { [_mm_loadu_si128(low.as_ptr().cast()), _mm_loadu_si128(high.as_ptr().cast())] }
    }

    #[inline(always)]
    unsafe fn times(self, [low, high]: &Self::Factor) -> Self {
        // SAFETY: the caller's promise.
        Ssse3(unsafe {
            let half = _mm_set1_epi8(0x0f);
            let lower = _mm_shuffle_epi8(*low, _mm_and_si128(self.0, half));
            let upper = _mm_shuffle_epi8(*high, _mm_and_si128(_mm_srli_epi64::<4>(self.0), half));
            _mm_xor_si128(lower, upper)
        })
    }
}

/// 256 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i);

#[cfg(target_arch = "x86_64")]
impl Vector for Avx2 {
    const BYTES: usize = 32;
    type Factor = [__m256i; 2];

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn double(self) -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe {
            let overflow = _mm256_cmpgt_epi8(_mm256_setzero_si256(), self.0);
            let carry = _mm256_and_si256(overflow, _mm256_set1_epi8(POLYNOMIAL as i8));
            _mm256_xor_si256(_mm256_add_epi8(self.0, self.0), carry)
        })
    }

    #[inline(always)]
    unsafe fn factor(c: u8) -> Self::Factor {
        let (low, high) = field::half_byte_products(c);
        // SAFETY: both tables have 16 bytes.
        unsafe { [low, high].map(|table| _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()))) }
    }

    #[inline(always)]
    unsafe fn times(self, [low, high]: &Self::Factor) -> Self {
        // SAFETY: the caller's promise.
        Avx2(unsafe {
            let half = _mm256_set1_epi8(0x0f);
            let lower = _mm256_shuffle_epi8(*low, _mm256_and_si256(self.0, half));
            let upper = _mm256_shuffle_epi8(*high, _mm256_and_si256(_mm256_srli_epi64::<4>(self.0), half));
            _mm256_xor_si256(lower, upper)
        })
    }
}

/// 512 bits, multiplied by the matrix instruction: its own product has another polynomial.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

#[cfg(target_arch = "x86_64")]
impl Vector for Avx512 {
    const BYTES: usize = 64;
    type Factor = __m512i;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn double(self) -> Self {
        const TWICE: i64 = field::bit_matrix(2) as i64;
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self.0, _mm512_set1_epi64(TWICE)) })
    }

    #[inline(always)]
    unsafe fn factor(c: u8) -> Self::Factor {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_epi64(field::bit_matrix(c) as i64) }
    }

    #[inline(always)]
    unsafe fn times(self, factor: &Self::Factor) -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self.0, *factor) })
    }
}
