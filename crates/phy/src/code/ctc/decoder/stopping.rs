//! Rules for stopping the decoding of a block.

/// Rule for stopping before the last iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopping {
    /// No early stopping.
    None,
    /// Stops when the decided bits equal the transmitted bits. Only a simulator can apply this
    /// rule, because a receiver does not know the transmitted bits. A block counts as correct if it
    /// is correct after any iteration.
    #[default]
    Genie,
    /// Stops when two consecutive iterations decide the same bits.
    Agreement,
}

impl Stopping {
    /// Returns true if decoding stops after `iterations`. `agrees` is true if the decided bits
    /// equal the reference: the transmitted bits, or the bits of the previous iteration.
    pub(super) fn is_met(self, agrees: bool, iterations: u32) -> bool {
        match self {
            Stopping::None => false,
            Stopping::Genie => agrees,
            Stopping::Agreement => agrees && iterations > 1,
        }
    }
}
