//! Buffers for packets between a stage and their delivery.

use airpath_core::Emission;

/// Buffers for packets that stages have sent and that are not delivered yet.
#[derive(Default)]
pub(crate) struct Outboxes {
    /// Packets being delivered.
    pub(crate) current: Vec<Emission>,
    /// Packets sent by these deliveries.
    pub(crate) next: Vec<Emission>,
    pub(crate) freely: FreeOutboxes,
}

/// Maximum number of consecutive stages that are called ahead of time in one call.
const MOST_AHEAD: usize = 4;

/// Buffers for packets of stages that are not called in time order.
#[derive(Default)]
pub(crate) struct FreeOutboxes {
    /// Packets sent by a stage that is called late.
    pub(crate) late: Vec<Emission>,
    /// Packets sent by stages that are called ahead of time: by the stage after a late stage, by
    /// the stage after that stage, and so on.
    pub(crate) ahead: [Vec<Emission>; MOST_AHEAD],
}
