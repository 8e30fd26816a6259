//! Work with the widest vector instructions of the machine.

use pulp::Arch;

/// Runs `work`, a closure that is `#[inline(always)]`, compiled for this machine's instructions.
///
/// The bound makes the closure one that is called once. Without it the compiler puts a call that
/// is not inlined in between, and compiles the work for the oldest machines.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}
