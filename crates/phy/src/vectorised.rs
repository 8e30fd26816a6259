//! Runs code that is compiled for the widest vector instructions of the machine.

use pulp::Arch;

/// Runs `work`, a closure with `#[inline(always)]`, compiled for the instruction set of this
/// machine.
///
/// The bound `FnOnce` ensures that the closure is inlined. Otherwise the compiler inserts a call
/// that is not inlined, and compiles the closure for the oldest machines.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}
