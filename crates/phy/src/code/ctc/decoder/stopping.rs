//! When the decoder is done with a block.

/// When a block is taken out before its last iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopping {
    /// No early stopping.
    None,
    /// When the decided bits are the sent ones: what simulators do, and no receiver can. The block
    /// is right if it is right after any iteration.
    #[default]
    Genie,
    /// When two iterations in a row decide the same bits.
    Agreement,
}

impl Stopping {
    /// Whether decoding stops after `iterations`, when the decided bits agree with the reference
    /// (the sent bits, or those decided one iteration before) or not.
    pub(super) fn is_met(self, agrees: bool, iterations: u32) -> bool {
        match self {
            Stopping::None => false,
            Stopping::Genie => agrees,
            Stopping::Agreement => agrees && iterations > 1,
        }
    }
}
