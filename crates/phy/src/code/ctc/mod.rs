//! The convolutional turbo code (CTC) of IEEE 802.16 WirelessMAN-OFDMA.
//!
//! ```text
//! couples (A, B) ──┬──▶ first encoder ─────────────▶ Y1, W1 ┐
//!                  └──▶ interleaver ─▶ second ─────▶ Y2, W2 ┼─▶ subblock interleavers ─▶ first L bits
//!                                                     A, B  ┘
//! ```
//!
//! Source: IEEE 802.16-2009 §8.4.9.2.3. Left out: HARQ subpackets after the first.

mod decoder;
mod encoder;
mod interleaver;
mod puncture;
mod sizes;
mod trellis;

pub use decoder::*;
pub use encoder::Code;
pub use interleaver::{interleaver, subblock_order};
pub use sizes::{BLOCK_SIZES, BlockSize};
pub use trellis::{STATES, TRELLIS, Transition, Word, circulation_state};
