//! Stores the bytes of the packets in flight.

use airpath_core::PayloadHandle;

/// Number of slots that are allocated together.
const GROWTH: usize = 256;

/// Maps handles to the bytes of packets. A slot is reused after its packet has left the path or was
/// dropped. Memory is allocated only if the number of packets in flight reaches a new maximum.
#[derive(Debug)]
pub struct Payloads {
    slot_bytes: usize,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    bytes: Box<[u8]>,
    length: usize,
    in_use: bool,
}

impl Payloads {
    /// Creates the storage for packets of at most `slot_bytes` bytes.
    pub fn new(slot_bytes: usize) -> Payloads {
        let mut payloads = Payloads { slot_bytes, slots: Vec::new(), free: Vec::new() };
        payloads.grow();
        payloads
    }

    fn grow(&mut self) {
        let first = self.slots.len();
        self.slots.extend((0..GROWTH).map(|_| Slot {
            bytes: vec![0; self.slot_bytes].into_boxed_slice(),
            length: 0,
            in_use: false,
        }));
        self.free.extend((first..self.slots.len()).rev().map(|slot| slot as u32));
    }

    /// Allocates a slot; the caller then writes a packet into it.
    pub fn take(&mut self) -> PayloadHandle {
        if self.free.is_empty() {
            self.grow();
        }
        let number = self.free.pop().expect("a slot was added");
        let slot = &mut self.slots[number as usize];
        (slot.length, slot.in_use) = (0, true);
        PayloadHandle(number + 1)
    }

    /// Returns the complete buffer of an allocated slot, for writing a packet.
    ///
    /// # Panics
    /// Panics if the slot is not allocated.
    pub fn slot_mut(&mut self, handle: PayloadHandle) -> &mut [u8] {
        let slot = &mut self.slots[handle.0 as usize - 1];
        assert!(slot.in_use, "slot {} was not taken", handle.0);
        &mut slot.bytes
    }

    /// Sets the length of the packet in a slot, bytes.
    pub fn set_length(&mut self, handle: PayloadHandle, length: usize) {
        self.slots[handle.0 as usize - 1].length = length;
    }

    /// Returns the bytes of a packet in flight.
    ///
    /// # Panics
    /// Panics if no packet has this handle.
    pub fn bytes(&mut self, handle: PayloadHandle) -> &mut [u8] {
        let slot = &mut self.slots[handle.0 as usize - 1];
        assert!(slot.in_use, "packet {} has left before", handle.0);
        &mut slot.bytes[..slot.length]
    }

    /// Frees the bytes of a packet that has left or was dropped.
    ///
    /// # Panics
    /// Panics if the slot was already freed.
    pub fn release(&mut self, handle: PayloadHandle) {
        let slot = &mut self.slots[handle.0 as usize - 1];
        assert!(slot.in_use, "packet {} has left before", handle.0);
        slot.in_use = false;
        self.free.push(handle.0 - 1);
    }

    /// Returns the number of slots in use.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_reused_and_other_slots_keep_their_bytes() {
        let mut payloads = Payloads::new(4);
        let mut handles = Vec::new();
        for number in 0..1000u16 {
            let handle = payloads.take();
            payloads.slot_mut(handle)[..2].copy_from_slice(&number.to_be_bytes());
            payloads.set_length(handle, 2);
            handles.push((number, handle));
        }
        assert_eq!(payloads.in_use(), 1000);
        for (number, handle) in handles.iter().filter(|(number, _)| number % 3 == 0) {
            assert_eq!(payloads.bytes(*handle), number.to_be_bytes());
            payloads.release(*handle);
        }
        let slots = payloads.slots.len();
        for _ in 0..334 {
            let handle = payloads.take();
            payloads.slot_mut(handle)[0] = 0xff;
        }
        assert_eq!((payloads.in_use(), payloads.slots.len()), (1000, slots));
        for (number, handle) in handles.iter().filter(|(number, _)| number % 3 != 0) {
            assert_eq!(payloads.bytes(*handle), number.to_be_bytes());
        }
    }

    #[test]
    #[should_panic(expected = "has left before")]
    fn releasing_a_slot_twice_panics() {
        let mut payloads = Payloads::new(4);
        let handle = payloads.take();
        payloads.release(handle);
        payloads.release(handle);
    }
}
