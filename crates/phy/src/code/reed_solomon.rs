//! Reed–Solomon codes of packets: divides a packet into blocks and computes the number of errors
//! that each block can correct.
//!
//! RS(b, k) adds parity to k symbols, sends b symbols, and corrects t_C = ⌊(b−k)/2⌋ wrong symbols.
//! A packet of L bytes has k = ⌈8L/m⌉ symbols of m bits, and b = round(k/r) symbols on the air,
//! where r is the code rate. The number of wrong symbols determines whether a block can be decoded,
//! so that no codec is implemented.
//!
//! Without a limit on the block size, a packet is one block. This is an idealisation if the block
//! has more than 2^m − 1 symbols, the limit of a real code. With a limit, a packet is divided into
//! the smallest possible number of blocks. Both k and b are distributed over the blocks as evenly
//! as possible, with larger blocks first.
//!
//! Source: vcp-2008 §II.C; blocks of complete packets: vcp-rem §5.3.

use airpath_core::{Bytes, Checks, ConfigError, SymbolCode, above};

/// Largest number of symbols of a block.
pub const MOST_SYMBOLS: u64 = 65_535;

/// A code for packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReedSolomon {
    code: SymbolCode,
    max_block: Option<u64>,
}

/// A block of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// k, symbols of data.
    pub data: u64,
    /// b, symbols of data and parity.
    pub symbols: u64,
    /// t_C, number of wrong symbols that can be corrected.
    pub correctable: u64,
}

impl Block {
    /// Creates a block of RS(b, k).
    pub fn new(symbols: u64, data: u64) -> Block {
        Block { data, symbols, correctable: symbols.saturating_sub(data) / 2 }
    }
}

/// Largest number of bits of a symbol.
const MOST_BITS: u32 = 16;

impl ReedSolomon {
    /// Creates a code with the rate `code_rate` (r, in (0, 1]) over symbols of `symbol_bits` bits
    /// (m, 1 to 16), with blocks of at most `max_block` symbols. If `max_block` is `None`, a packet
    /// is one block.
    ///
    /// # Errors
    /// If a value is outside its range, or a block of `max_block` symbols has no data symbol at
    /// this code rate. The error's field is the argument's name.
    pub fn new(
        code_rate: f64,
        symbol_bits: u32,
        max_block: Option<u64>,
    ) -> Result<ReedSolomon, ConfigError> {
        let mut checks = Checks::default();
        let is_rate = checks.within("code_rate", code_rate, above(0.0).up_to(1.0));
        let is_symbol = checks.within("symbol_bits", symbol_bits, 1..=MOST_BITS);
        let code = SymbolCode { code_rate, symbol_bits };
        if let Some(max_block) = max_block
            && is_rate
            && is_symbol
        {
            let (least, longest) = (code.coded(1), (1_u64 << symbol_bits) - 1);
            let problem = if max_block > longest {
                "above the symbols that a code of this field has"
            } else {
                "too short for one symbol of data at this code rate"
            };
            checks.related("max_block", max_block, least..=longest, problem);
        }
        checks.finish()?;
        Ok(ReedSolomon { code, max_block })
    }

    /// Returns the number of bits of a symbol.
    pub fn symbol_bits(&self) -> u32 {
        self.code.symbol_bits
    }

    /// Returns the [`SymbolCode`], which computes the length of a packet on the air.
    pub fn symbol_code(&self) -> SymbolCode {
        self.code
    }

    /// Returns the blocks of a packet in order of transmission.
    ///
    /// # Errors
    /// If a block has more than [`MOST_SYMBOLS`] symbols; the error's field is `code_rate`.
    pub fn blocks(&self, packet: Bytes) -> Result<Vec<Block>, ConfigError> {
        let data = self.code.data(packet);
        let symbols = self.code.coded(data);
        let count = self.max_block.map_or(1, |most| symbols.div_ceil(most)).max(1);
        let block = |number: u64| {
            let share = |all: u64| all / count + u64::from(number < all % count);
            Block::new(share(symbols), share(data))
        };
        let blocks: Vec<Block> = (0..count).map(block).collect();
        if blocks[0].symbols > MOST_SYMBOLS {
            let problem = format!("a packet of {} B makes a block of {symbols} symbols", packet.0);
            return Err(ConfigError::new("code_rate", self.code.code_rate, problem));
        }
        Ok(blocks)
    }

    /// Returns the bytes of a packet on the air; the last byte is padded.
    pub fn on_air(&self, packet: Bytes) -> Bytes {
        self.code.on_air(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// vcp-rem §5.3: b and t for 1040-byte data packets and 40-byte ACKs.
    #[test]
    fn blocks_match_packets_of_the_paper() {
        let table = [
            (0.93, (1118, 39), (43, 1)),
            (0.9, (1156, 58), (44, 2)),
            (0.8, (1300, 130), (50, 5)),
            (0.7, (1486, 223), (57, 8)),
        ];
        for (code_rate, data, ack) in table {
            let code = ReedSolomon::new(code_rate, 8, None).expect("accepted");
            for (bytes, (symbols, correctable)) in [(1040, data), (40, ack)] {
                let blocks = code.blocks(Bytes(bytes)).expect("accepted");
                assert_eq!(blocks, [Block { data: bytes, symbols, correctable }]);
                assert_eq!(code.on_air(Bytes(bytes)), Bytes(symbols));
            }
        }
    }

    /// 1040 and 1156 symbols in five blocks: 208 symbols each; one block of 232 and four of 231
    /// symbols.
    #[test]
    fn long_packets_are_divided_evenly_with_larger_blocks_first() {
        let code = ReedSolomon::new(0.9, 8, Some(255)).expect("accepted");
        let blocks = code.blocks(Bytes(1040)).expect("accepted");
        let symbols: Vec<u64> = blocks.iter().map(|block| block.symbols).collect();
        assert_eq!(symbols, [232, 231, 231, 231, 231]);
        assert!(blocks.iter().all(|block| block.data == 208));
        assert_eq!((blocks[0].correctable, blocks[1].correctable), (12, 11));
        assert_eq!(code.blocks(Bytes(40)).expect("accepted").len(), 1);
    }

    #[test]
    fn invalid_code_is_rejected() {
        let field = |code: Result<ReedSolomon, ConfigError>| {
            code.err().map(|error| error.first().field.clone())
        };
        assert_eq!(field(ReedSolomon::new(0.0, 8, None)), Some("code_rate".into()));
        assert_eq!(field(ReedSolomon::new(1.01, 8, None)), Some("code_rate".into()));
        assert_eq!(field(ReedSolomon::new(0.9, 0, None)), Some("symbol_bits".into()));
        assert_eq!(field(ReedSolomon::new(0.9, 8, Some(256))), Some("max_block".into()));
        assert_eq!(field(ReedSolomon::new(0.1, 8, Some(9))), Some("max_block".into()));
        let code = ReedSolomon::new(0.1, 8, None).expect("accepted");
        assert_eq!(
            code.blocks(Bytes(9000)).err().map(|error| error.first().field.clone()),
            Some("code_rate".into())
        );
    }
}
