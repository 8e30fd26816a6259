//! The bytes of packets that are on their way.

use airpath_core::PayloadHandle;

/// Slots that are made together.
const GROWTH: usize = 256;

/// Bytes of packets by handle. A slot is used again when its packet has left or was dropped; memory is
/// asked for only when more packets are on their way than ever before.
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
    /// Room for packets of at most `slot_bytes` bytes.
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

    /// A free slot to write a packet into, which stays free until [`Payloads::keep`].
    pub fn room(&mut self) -> &mut [u8] {
        if self.free.is_empty() {
            self.grow();
        }
        let slot = self.free[self.free.len() - 1] as usize;
        &mut self.slots[slot].bytes
    }

    /// What was written last into the free slot.
    pub fn written(&self, length: usize) -> &[u8] {
        self.free.last().map_or(&[], |slot| &self.slots[*slot as usize].bytes[..length])
    }

    /// Keeps the `length` bytes that were written into the free slot.
    ///
    /// # Panics
    /// Without [`Payloads::room`] before.
    pub fn keep(&mut self, length: usize) -> PayloadHandle {
        let number = self.free.pop().expect("room was made");
        let slot = &mut self.slots[number as usize];
        (slot.length, slot.in_use) = (length, true);
        PayloadHandle(number + 1)
    }

    /// The bytes of a packet on its way.
    ///
    /// # Panics
    /// If there is none of that handle.
    pub fn bytes(&mut self, handle: PayloadHandle) -> &mut [u8] {
        let slot = &mut self.slots[handle.0 as usize - 1];
        assert!(slot.in_use, "packet {} has left before", handle.0);
        &mut slot.bytes[..slot.length]
    }

    /// Lets go the bytes of a packet that has left or was dropped.
    ///
    /// # Panics
    /// If that was done before.
    pub fn release(&mut self, handle: PayloadHandle) {
        let slot = &mut self.slots[handle.0 as usize - 1];
        assert!(slot.in_use, "packet {} has left before", handle.0);
        slot.in_use = false;
        self.free.push(handle.0 - 1);
    }

    /// Packets on their way.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_and_the_bytes_of_others_stay() {
        let mut payloads = Payloads::new(4);
        let mut handles = Vec::new();
        for number in 0..1000u16 {
            payloads.room()[..2].copy_from_slice(&number.to_be_bytes());
            assert_eq!(payloads.written(2), number.to_be_bytes());
            handles.push((number, payloads.keep(2)));
        }
        assert_eq!(payloads.in_use(), 1000);
        for (number, handle) in handles.iter().filter(|(number, _)| number % 3 == 0) {
            assert_eq!(payloads.bytes(*handle), number.to_be_bytes());
            payloads.release(*handle);
        }
        let slots = payloads.slots.len();
        for _ in 0..334 {
            payloads.room()[0] = 0xff;
            payloads.keep(1);
        }
        assert_eq!((payloads.in_use(), payloads.slots.len()), (1000, slots));
        for (number, handle) in handles.iter().filter(|(number, _)| number % 3 != 0) {
            assert_eq!(payloads.bytes(*handle), number.to_be_bytes());
        }
    }

    #[test]
    #[should_panic(expected = "has left before")]
    fn letting_go_twice_is_a_defect() {
        let mut payloads = Payloads::new(4);
        payloads.room();
        let handle = payloads.keep(1);
        payloads.release(handle);
        payloads.release(handle);
    }
}
