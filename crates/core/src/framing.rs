//! Size of a packet on the air, and the link properties that a queue discipline receives.

use crate::units::{Bytes, Duration, Rate};

/// Relative tolerance for a quotient that is an integer number of bytes but slightly larger in
/// double precision.
const ROUNDING: f64 = 1e-9;

/// Block code over symbols of m bits, applied to each packet. A packet of L bytes has k = ⌈8L/m⌉
/// data symbols, which the code extends to b = round(k/r) symbols on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymbolCode {
    /// Code rate r, in (0, 1].
    pub code_rate: f64,
    /// Symbol length m, bits, at least 1.
    pub symbol_bits: u32,
}

impl SymbolCode {
    /// Returns k, the number of data symbols of a packet.
    pub fn data(&self, packet: Bytes) -> u64 {
        (8 * packet.0).div_ceil(u64::from(self.symbol_bits))
    }

    /// Returns b, the number of symbols on the air for `data` data symbols.
    pub fn coded(&self, data: u64) -> u64 {
        (data as f64 / self.code_rate).round() as u64
    }

    /// Returns the size of a packet on the air, rounded up to bytes.
    pub fn on_air(&self, packet: Bytes) -> Bytes {
        let symbols = self.coded(self.data(packet));
        let bits = symbols.saturating_mul(u64::from(self.symbol_bits));
        Bytes(bits.div_ceil(8))
    }
}

/// A symbol code, optionally with another code rate for small packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Symbols {
    code: SymbolCode,
    small: Option<(Bytes, SymbolCode)>,
}

/// Framing overhead of a link. A packet of L bytes occupies ⌈⌈(L + overhead) / block⌉ · block /
/// code rate⌉ bytes on the air. With a symbol code, the coded size of L + overhead replaces this
/// formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    overhead: Bytes,
    block: Bytes,
    code_rate: f64,
    symbols: Option<Symbols>,
    /// True if blocks are longer than one byte or if parity is added.
    is_coded: bool,
}

impl Default for Framing {
    /// Returns a framing without overhead.
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
    /// Creates a framing that adds `overhead` bytes to each packet.
    pub fn with_overhead(overhead: Bytes) -> Framing {
        Framing { overhead, ..Framing::default() }
    }

    /// Pads the frame to a multiple of `block` bytes (at least 1).
    #[must_use]
    pub fn in_blocks(self, block: Bytes) -> Framing {
        let block = block.max(Bytes(1));
        Framing { block, is_coded: block > Bytes(1) || self.code_rate < 1.0, ..self }
    }

    /// Sets the code rate, in (0, 1]: the share of data in the transmitted bytes. The rest is
    /// parity.
    #[must_use]
    pub fn coded_at(self, code_rate: f64) -> Framing {
        Framing { code_rate, is_coded: self.block > Bytes(1) || code_rate < 1.0, ..self }
    }

    /// Applies a symbol code, which replaces blocks and the code rate. `small` is the largest size
    /// of a small frame and the code rate of small frames.
    #[must_use]
    pub fn coded_by_symbols(self, code: SymbolCode, small: Option<(Bytes, f64)>) -> Framing {
        let small = small.map(|(up_to, code_rate)| (up_to, SymbolCode { code_rate, ..code }));
        Framing { symbols: Some(Symbols { code, small }), is_coded: true, ..self }
    }

    /// Returns the size on the air of a packet. The argument may be a configured mean that is
    /// larger than any IP packet.
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

/// Link properties that a queue discipline receives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkRate {
    /// Nominal rate of the link, counted in bytes on the air.
    pub nominal: Rate,
    /// Framing of a packet on the air.
    pub framing: Framing,
}

impl LinkRate {
    /// Creates the properties of a link without framing overhead.
    pub fn of_packets(nominal: Rate) -> LinkRate {
        LinkRate { nominal, framing: Framing::default() }
    }

    /// Returns the transmission time of a packet of this size at the nominal rate.
    pub fn time_of(&self, packet: Bytes) -> Duration {
        self.framing.on_air(packet) / self.nominal
    }

    /// Returns the number of packets of this size (1 byte or more) per second at the nominal rate.
    pub fn packets_per_second(&self, packet: Bytes) -> f64 {
        self.nominal.0 as f64 / (8.0 * self.framing.on_air(packet).0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_rate_of_huge_mean_does_not_overflow() {
        let framing = Framing::with_overhead(Bytes(65_535)).in_blocks(Bytes(65_535));
        let rate = LinkRate { nominal: Rate(10_000_000), framing: framing.coded_at(0.001) };
        let found = rate.packets_per_second(Bytes(u64::MAX));
        assert!(found > 0.0 && found < 1e-6, "{found}");
    }

    #[test]
    fn framing_pads_to_blocks_and_adds_parity() {
        let sizes = |framing: Framing| [1500, 40, 1, 0].map(|bytes| framing.on_air(Bytes(bytes)).0);
        let overhead = Framing::with_overhead(Bytes(2));
        assert_eq!(sizes(Framing::default()), [1500, 40, 1, 0]);
        assert_eq!(sizes(overhead), [1502, 42, 3, 2]);
        assert_eq!(sizes(overhead.in_blocks(Bytes(60))), [1560, 60, 60, 60]);
        assert_eq!(sizes(overhead.in_blocks(Bytes(60)).coded_at(0.75)), [2080, 80, 80, 80]);
        assert_eq!(sizes(overhead.coded_at(0.5)), [3004, 84, 6, 4]);
    }

    /// The result of 930 / 0.93 is above 1000 in double precision, but must not be rounded up to
    /// 1001.
    #[test]
    fn framing_does_not_round_up_integer_quotients() {
        for (bytes, percent, on_air) in [(930, 93, 1000), (7, 70, 10), (1041, 3, 34_700)] {
            let framing = Framing::default().coded_at(f64::from(percent) / 100.0);
            assert_eq!(framing.on_air(Bytes(bytes)), Bytes(on_air), "{bytes} at {percent} %");
        }
    }

    /// The code has b = round(k/r) symbols (vcp-2008 §II.C). The size in bytes is rounded up.
    #[test]
    fn symbol_code_rounds_to_nearest_symbol_and_uses_rate_of_small_frames() {
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
    fn time_and_packet_rate_count_bytes_on_air() {
        let framing = Framing::with_overhead(Bytes(100)).in_blocks(Bytes(500));
        let rate = LinkRate { nominal: Rate::from_mbps(1), framing };
        assert_eq!(rate.time_of(Bytes(1500)), Duration::from_millis(16));
        assert_eq!(rate.packets_per_second(Bytes(1500)), 62.5);
        assert_eq!(LinkRate::of_packets(Rate(12_000)).packets_per_second(Bytes(1500)), 1.0);
    }
}
