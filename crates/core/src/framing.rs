//! Cost of a packet on the air, and the properties of a link that its queue discipline receives.

use crate::units::{Bytes, Duration, Rate};

/// A relative error of a division by a code rate that is no byte.
const ROUNDING: f64 = 1e-9;

/// A code over symbols of m bits, packet by packet: k = ⌈8L/m⌉ symbols of a packet of L bytes
/// become b = round(k/r) on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymbolCode {
    /// r, in (0, 1].
    pub code_rate: f64,
    /// m, bits, 1 or more.
    pub symbol_bits: u32,
}

impl SymbolCode {
    /// k, symbols of a packet.
    pub fn data(&self, packet: Bytes) -> u64 {
        (8 * packet.0).div_ceil(u64::from(self.symbol_bits))
    }

    /// b, symbols with parity that `data` symbols become.
    pub fn coded(&self, data: u64) -> u64 {
        (data as f64 / self.code_rate).round() as u64
    }

    /// Bytes of a packet on the air, the last one filled up.
    pub fn on_air(&self, packet: Bytes) -> Bytes {
        let symbols = self.coded(self.data(packet));
        let bits = symbols.saturating_mul(u64::from(self.symbol_bits));
        Bytes(bits.div_ceil(8))
    }
}

/// A code by symbols, and one of another rate for packets up to a size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Symbols {
    code: SymbolCode,
    small: Option<(Bytes, SymbolCode)>,
}

/// Overhead of a link for a packet: ⌈⌈(L + overhead) / block⌉ · block / code rate⌉ bytes are on the
/// air for a packet of L; or what a code by symbols makes of L + overhead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    overhead: Bytes,
    block: Bytes,
    code_rate: f64,
    symbols: Option<Symbols>,
    /// Whether blocks of more than a byte or parity exist.
    is_coded: bool,
}

impl Default for Framing {
    /// Nothing is added.
    fn default() -> Framing {
        Framing {
            overhead: Bytes::ZERO,
            block: Bytes(1),
            code_rate: 1.0,
            symbols: None,
            is_coded: false,
        }
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

    /// Frames are coded by symbols, instead of blocks and their code rate; `small` is (largest
    /// size, code rate) of small frames.
    #[must_use]
    pub fn coded_by_symbols(self, code: SymbolCode, small: Option<(Bytes, f64)>) -> Framing {
        let small = small.map(|(up_to, code_rate)| (up_to, SymbolCode { code_rate, ..code }));
        Framing { symbols: Some(Symbols { code, small }), is_coded: true, ..self }
    }

    /// Link capacity that a packet of this size takes. A size may be a configured mean, larger than
    /// any packet.
    #[inline]
    pub fn on_air(&self, packet: Bytes) -> Bytes {
        let frame = Bytes(packet.0.saturating_add(self.overhead.0));
        if self.is_coded { self.coded(frame) } else { frame }
    }

    #[cold]
    fn coded(&self, frame: Bytes) -> Bytes {
        if let Some(Symbols { code, small }) = self.symbols {
            let of_small = small.filter(|(up_to, _)| frame <= *up_to).map(|(_, code)| code);
            return of_small.unwrap_or(code).on_air(frame);
        }
        let blocks = frame.0.div_ceil(self.block.0);
        let data = blocks.saturating_mul(self.block.0);
        if self.code_rate < 1.0 {
            let on_air = data as f64 / self.code_rate;
            return Bytes(libm::ceil(on_air * (1.0 - ROUNDING)) as u64);
        }
        Bytes(data)
    }
}

/// Properties of a link that its queue discipline receives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkRate {
    /// The rate that the link is said to have, of what is on the air.
    pub nominal: Rate,
    /// Framing of a packet on the air.
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
    fn a_mean_beyond_any_packet_overflows_nothing() {
        let framing = Framing::with_overhead(Bytes(65_535)).in_blocks(Bytes(65_535));
        let rate = LinkRate { nominal: Rate(10_000_000), framing: framing.coded_at(0.001) };
        let found = rate.packets_per_second(Bytes(u64::MAX));
        assert!(found > 0.0 && found < 1e-6, "{found}");
    }

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

    /// An integer number of bytes stays one: 930 / 0.93 is above 1000 in double precision.
    #[test]
    fn a_whole_quotient_is_not_rounded_up() {
        for (bytes, percent, on_air) in [(930, 93, 1000), (7, 70, 10), (1041, 3, 34_700)] {
            let framing = Framing::default().coded_at(f64::from(percent) / 100.0);
            assert_eq!(framing.on_air(Bytes(bytes)), Bytes(on_air), "{bytes} at {percent} %");
        }
    }

    /// b = round(k/r) (vcp-2008 §II.C), and half bytes filled up.
    #[test]
    fn a_code_by_symbols_rounds_to_the_nearest_symbol_and_small_frames_have_their_own() {
        let code = SymbolCode { code_rate: 0.93, symbol_bits: 8 };
        let sizes =
            |framing: Framing| [1040, 128, 40, 1].map(|bytes| framing.on_air(Bytes(bytes)).0);
        assert_eq!(sizes(Framing::default().coded_by_symbols(code, None)), [1118, 138, 43, 1]);
        let small = Some((Bytes(128), 0.5));
        assert_eq!(sizes(Framing::default().coded_by_symbols(code, small)), [1118, 256, 80, 2]);
        let nibbles = SymbolCode { code_rate: 0.7, symbol_bits: 4 };
        assert_eq!(sizes(Framing::default().coded_by_symbols(nibbles, None)), [1486, 183, 57, 2]);
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
