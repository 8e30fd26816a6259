//! Calls of functions of compiled parts, and access to the memory that they share with the host.
//! This is the only module of the crate with unsafe code.
//!
//! * `State`: memory that is at least as large and as aligned as the table of the part demands.
//!   Sound on the host's side: it begins with a `Control`, which is valid for every bit pattern.
//! * `CongestionTable::at`: copies a table from an address. Sound if the address is that of a table. The callers
//!   pass addresses that the loader of a part returns.
//! * `State::call`: passes pointers that are valid during the call. A function that accesses other
//!   memory can crash the process, as with every shared library.
#![allow(unsafe_code)]

use crate::contract::{CongestionTable, Control, Function, OK, VERSION};
use std::ffi::c_void;

/// A table that does not follow the contract.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The part was built for another version of the contract.
    #[error("contract version {0}: not accepted. Use version {VERSION}")]
    Version(u32),
    /// Properties of the state.
    #[error("state of {size} bytes with alignment {align}: not accepted. Use at least {least} bytes and an alignment of 8 or 16", least = Control::SIZE)]
    State {
        /// Size, bytes.
        size: u64,
        /// Alignment, bytes.
        align: u64,
    },
    /// A required function is null.
    #[error("no function {0}. Define it")]
    Missing(&'static str),
}

/// Largest size of the state of an object, bytes.
const LARGEST_STATE: u64 = 1 << 30;

impl CongestionTable {
    /// Copies the table at an address. Fields that the table does not have are 0.
    ///
    /// # Errors
    /// Fails if the table does not follow the contract.
    pub fn at(address: usize) -> Result<CongestionTable, TableError> {
        let source = address as *const u8;
        // SAFETY: a table is at the address, and a table begins with two u32.
        let [size, version] = unsafe { source.cast::<[u32; 2]>().read() };
        if version != VERSION {
            return Err(TableError::Version(version));
        }
        // SAFETY: numbers, and function pointers in an Option, may be 0.
        let mut table: CongestionTable = unsafe { std::mem::zeroed() };
        let known = size.min(CongestionTable::SIZE) as usize;
        // SAFETY: the table at the address has `size` bytes; the copy has at least `known` bytes.
        unsafe { source.copy_to_nonoverlapping((&raw mut table).cast::<u8>(), known) };
        table.check()?;
        Ok(table)
    }

    /// Checks the state and the required functions.
    ///
    /// # Errors
    /// Fails if the table does not follow the contract.
    pub fn check(&self) -> Result<(), TableError> {
        let CongestionTable { state_size: size, state_align: align, .. } = *self;
        let least = u64::from(Control::SIZE);
        if !(least..=LARGEST_STATE).contains(&size) || !matches!(align, 8 | 16) {
            return Err(TableError::State { size, align });
        }
        let is_missing =
            |name, is_null| if is_null { Err(TableError::Missing(name)) } else { Ok(()) };
        is_missing("on_ack", self.on_ack.is_none())?;
        is_missing("on_loss", self.on_loss.is_none())
    }
}

/// State of an object of a part. It begins with a [`Control`].
pub(crate) struct State(Box<[u128]>);

impl State {
    /// Allocates the state for a part, set to 0 after `control`.
    pub(crate) fn new(table: &CongestionTable, control: Control) -> State {
        let words = (table.state_size as usize).div_ceil(size_of::<u128>());
        let mut state = State(vec![0; words].into_boxed_slice());
        *state.control() = control;
        state
    }

    /// Copies `bytes` to the beginning of the state, as many as fit.
    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(size_of_val(&*self.0));
        // SAFETY: both regions have at least `count` bytes, and the state is borrowed mutably.
        unsafe { bytes.as_ptr().copy_to_nonoverlapping(self.0.as_mut_ptr().cast(), count) };
    }

    /// Returns the values that the part sets.
    pub(crate) fn control(&mut self) -> &mut Control {
        // SAFETY: a state has at least the size of a Control and an alignment of 16. All bit
        // patterns are valid.
        unsafe { &mut *self.0.as_mut_ptr().cast::<Control>() }
    }

    /// Calls a function of the part. Returns false if it has failed; `None` if it is null.
    #[inline]
    pub(crate) fn call<E>(&mut self, function: Function<E>, event: &E) -> Option<bool> {
        let function = function?;
        let state = self.0.as_mut_ptr().cast::<c_void>();
        // SAFETY: the state and the event outlive the call; the function follows the contract.
        Some(unsafe { function(state, event) } == OK)
    }
}
