//! Memory budget of recordings. If a run exceeds the budget, it ends with an error instead of
//! exhausting the system memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of bytes that recordings may still allocate. All replications share one budget.
#[derive(Debug)]
pub struct MemoryBudget(AtomicU64);

impl MemoryBudget {
    /// Creates a budget of `bytes`.
    pub fn new(bytes: u64) -> MemoryBudget {
        MemoryBudget(AtomicU64::new(bytes))
    }

    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// Appends a value to a list. Returns false, and leaves the list unchanged, if the budget is
/// exhausted.
///
/// Without a budget, only the system memory limits the list.
#[inline]
pub fn push_within<T>(list: &mut Vec<T>, value: T, room: Option<&MemoryBudget>) -> bool {
    if list.len() == list.capacity() && !grow(list, room) {
        return false;
    }
    list.push(value);
    true
}

#[cold]
fn grow<T>(list: &mut Vec<T>, room: Option<&MemoryBudget>) -> bool {
    const FEWEST: usize = 256;
    let more = list.capacity().max(FEWEST);
    let bytes = more as u64 * size_of::<T>() as u64;
    room.is_none_or(|room| room.take(bytes)) && list.try_reserve_exact(more).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_share_one_memory_budget() {
        let room = MemoryBudget::new(3 * 256 * 8);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        assert!((0..512_u64).all(|n| push_within(&mut one, n, Some(&room))));
        assert!((0..256_u64).all(|n| push_within(&mut other, n, Some(&room))));
        assert!(!push_within(&mut one, 0, Some(&room)));
        assert!(!push_within(&mut other, 0, Some(&room)));
        assert_eq!((one.len(), other.len()), (512, 256));
        assert!(push_within(&mut other, 0, None));
    }
}
