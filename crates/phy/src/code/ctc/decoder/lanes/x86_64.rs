//! The arithmetic in AVX2 (16 lanes) and AVX-512 (32 lanes).

use super::Simd;
use pulp::x86::{V3, V4};
use std::arch::x86_64::{__m256i, __m512i};

impl Simd for V3 {
    type Vector = __m256i;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        self.vectorize(work)
    }

    #[inline(always)]
    fn splat(self, value: i16) -> __m256i {
        self.avx._mm256_set1_epi16(value)
    }

    #[inline(always)]
    fn plus(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_add_epi16(a, b)
    }

    #[inline(always)]
    fn minus(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_sub_epi16(a, b)
    }

    #[inline(always)]
    fn max(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_max_epi16(a, b)
    }

    #[inline(always)]
    fn min(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_min_epi16(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_xor_si256(a, b)
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_or_si256(a, b)
    }

    #[inline(always)]
    fn select(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        let chosen = self.avx2._mm256_and_si256(mask, self.xor(a, b));
        self.xor(b, chosen)
    }

    #[inline(always)]
    fn times(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_mullo_epi16(a, b)
    }

    #[inline(always)]
    fn quarter(self, a: __m256i) -> __m256i {
        self.avx2._mm256_srai_epi16::<2>(a)
    }
}

impl Simd for V4 {
    type Vector = __m512i;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        self.vectorize(work)
    }

    #[inline(always)]
    fn splat(self, value: i16) -> __m512i {
        self.avx512f._mm512_set1_epi16(value)
    }

    #[inline(always)]
    fn plus(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_add_epi16(a, b)
    }

    #[inline(always)]
    fn minus(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_sub_epi16(a, b)
    }

    #[inline(always)]
    fn max(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_max_epi16(a, b)
    }

    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_min_epi16(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_xor_si512(a, b)
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_or_si512(a, b)
    }

    #[inline(always)]
    fn select(self, mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
        let chosen = self.avx512f._mm512_and_si512(mask, self.xor(a, b));
        self.xor(b, chosen)
    }

    #[inline(always)]
    fn times(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_mullo_epi16(a, b)
    }

    #[inline(always)]
    fn quarter(self, a: __m512i) -> __m512i {
        self.avx512bw._mm512_srai_epi16::<2>(a)
    }
}
