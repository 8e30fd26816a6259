//! Vector arithmetic of the decoder. A vector contains one 16-bit number per block.
//!
//! The result does not depend on the width of the vectors, because lanes are independent and the
//! arithmetic uses integers.

#[cfg(target_arch = "x86_64")]
mod x86_64;

use pulp::bytemuck::Pod;

/// Arithmetic on one `i16` per lane. Sums wrap; callers must ensure that no sum overflows.
pub(super) trait Simd: Copy + Send + 'static {
    /// A vector with one number per lane.
    type Vector: Pod + Send;

    /// Number of blocks decoded in parallel.
    const LANES: usize = size_of::<Self::Vector>() / size_of::<i16>();

    /// Runs `work` with the instruction set of this arithmetic.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;
    /// Returns a vector with the same number in every lane.
    fn splat(self, value: i16) -> Self::Vector;
    fn plus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn minus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Returns, for each lane, `a` if all bits of the mask are ones, and `b` if the mask is zero.
    fn select(self, mask: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Returns the lowest 16 bits of the product.
    fn times(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Returns the number divided by 4, rounded down.
    fn quarter(self, a: Self::Vector) -> Self::Vector;
}

/// Portable Rust, for all machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

type Array = [i16; 8];

/// Applies the same operation to every lane.
#[inline(always)]
fn each(a: Array, b: Array, operation: impl Fn(i16, i16) -> i16) -> Array {
    let mut result = a;
    for lane in 0..Portable::LANES {
        result[lane] = operation(a[lane], b[lane]);
    }
    result
}

impl Simd for Portable {
    type Vector = Array;

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[inline(always)]
    fn splat(self, value: i16) -> Array {
        [value; Self::LANES]
    }

    #[inline(always)]
    fn plus(self, a: Array, b: Array) -> Array {
        each(a, b, i16::wrapping_add)
    }

    #[inline(always)]
    fn minus(self, a: Array, b: Array) -> Array {
        each(a, b, i16::wrapping_sub)
    }

    #[inline(always)]
    fn max(self, a: Array, b: Array) -> Array {
        each(a, b, i16::max)
    }

    #[inline(always)]
    fn min(self, a: Array, b: Array) -> Array {
        each(a, b, i16::min)
    }

    #[inline(always)]
    fn xor(self, a: Array, b: Array) -> Array {
        each(a, b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn or(self, a: Array, b: Array) -> Array {
        each(a, b, |a, b| a | b)
    }

    #[inline(always)]
    fn select(self, mask: Array, a: Array, b: Array) -> Array {
        each(b, each(mask, each(a, b, |a, b| a ^ b), |mask, x| mask & x), |b, x| b ^ x)
    }

    #[inline(always)]
    fn times(self, a: Array, b: Array) -> Array {
        each(a, b, i16::wrapping_mul)
    }

    #[inline(always)]
    fn quarter(self, a: Array) -> Array {
        each(a, a, |a, _| a >> 2)
    }
}
