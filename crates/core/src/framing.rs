//! What a packet costs on the air, and what a queue discipline is told of its link.

use crate::units::{Bytes, Duration, Rate};

/// A relative error of a division by a code rate that is no byte.
const ROUNDING: f64 = 1e-9;

/// What a link adds to a packet: ⌈⌈(L + overhead) / block⌉ · block / code rate⌉ bytes are on the air
/// for a packet of L.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    overhead: Bytes,
    block: Bytes,
    code_rate: f64,
    /// Whether blocks of more than a byte or parity have to be reckoned with.
    is_coded: bool,
}

impl Default for Framing {
    /// Nothing is added.
    fn default() -> Framing {
        Framing { overhead: Bytes::ZERO, block: Bytes(1), code_rate: 1.0, is_coded: false }
    }
}

impl Framing {
    /// `overhead` bytes are added to each packet.
    pub fn with_overhead(overhead: Bytes) -> Framing {
        Framing { overhead, ..Framing::default() }
    }

    /// The frame is filled up to whole blocks of `block` bytes, 1 or more.
    #[must_use]
    pub fn in_blocks(self, block: Bytes) -> Framing {
        let block = block.max(Bytes(1));
        Framing { block, is_coded: block > Bytes(1) || self.code_rate < 1.0, ..self }
    }

    /// Of what is on the air, the share `code_rate`, in (0, 1], is data; the rest is parity.
    #[must_use]
    pub fn coded_at(self, code_rate: f64) -> Framing {
        Framing { code_rate, is_coded: self.block > Bytes(1) || code_rate < 1.0, ..self }
    }

    /// What a packet of this size takes of the link's capacity.
    #[inline]
    pub fn on_air(&self, packet: Bytes) -> Bytes {
        let frame = packet + self.overhead;
        if self.is_coded { self.coded(frame) } else { frame }
    }

    #[cold]
    fn coded(&self, frame: Bytes) -> Bytes {
        let blocks = frame.0.div_ceil(self.block.0);
        let data = blocks * self.block.0;
        if self.code_rate < 1.0 {
            let on_air = data as f64 / self.code_rate;
            return Bytes(libm::ceil(on_air * (1.0 - ROUNDING)) as u64);
        }
        Bytes(data)
    }
}

/// What a queue discipline is told of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkRate {
    /// The rate that the link is said to have, of what is on the air.
    pub nominal: Rate,
    /// What is on the air for a packet.
    pub framing: Framing,
}

impl LinkRate {
    /// A rate of IP packets: nothing is added to them.
    pub fn of_packets(nominal: Rate) -> LinkRate {
        LinkRate { nominal, framing: Framing::default() }
    }

    /// How long a packet of this size takes at the nominal rate.
    pub fn time_of(&self, packet: Bytes) -> Duration {
        self.framing.on_air(packet) / self.nominal
    }

    /// Packets of this size, 1 byte or more, that the nominal rate carries in a second.
    pub fn packets_per_second(&self, packet: Bytes) -> f64 {
        self.nominal.0 as f64 / (8.0 * self.framing.on_air(packet).0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_filled_up_to_blocks_and_coded() {
        let sizes = |framing: Framing| [1500, 40, 1, 0].map(|bytes| framing.on_air(Bytes(bytes)).0);
        let overhead = Framing::with_overhead(Bytes(2));
        assert_eq!(sizes(Framing::default()), [1500, 40, 1, 0]);
        assert_eq!(sizes(overhead), [1502, 42, 3, 2]);
        assert_eq!(sizes(overhead.in_blocks(Bytes(60))), [1560, 60, 60, 60]);
        assert_eq!(sizes(overhead.in_blocks(Bytes(60)).coded_at(0.75)), [2080, 80, 80, 80]);
        assert_eq!(sizes(overhead.coded_at(0.5)), [3004, 84, 6, 4]);
    }

    /// A whole number of bytes stays one: 930 / 0.93 is above 1000 in double precision.
    #[test]
    fn a_whole_quotient_is_not_rounded_up() {
        for (bytes, percent, on_air) in [(930, 93, 1000), (7, 70, 10), (1041, 3, 34_700)] {
            let framing = Framing::default().coded_at(f64::from(percent) / 100.0);
            assert_eq!(framing.on_air(Bytes(bytes)), Bytes(on_air), "{bytes} at {percent} %");
        }
    }

    #[test]
    fn time_and_rate_are_those_of_what_is_on_the_air() {
        let framing = Framing::with_overhead(Bytes(100)).in_blocks(Bytes(500));
        let rate = LinkRate { nominal: Rate::from_mbps(1), framing };
        assert_eq!(rate.time_of(Bytes(1500)), Duration::from_millis(16));
        assert_eq!(rate.packets_per_second(Bytes(1500)), 62.5);
        assert_eq!(LinkRate::of_packets(Rate(12_000)).packets_per_second(Bytes(1500)), 1.0);
    }
}
