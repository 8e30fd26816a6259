//! Observers of the packets that pass between stages: captures and the flow monitor. They do not
//! change results.

use crate::capture::Capture;
use crate::flow_monitor::FlowMonitor;
use crate::stage_map::StageMap;
use airpath_core::{Packet, Port, StageError, StageId, Time};
use airpath_path::{Input, Observer};

/// A packet leaves a stage, enters a stage, or both at the same instant.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent<'a> {
    /// Time of the event.
    pub now: Time,
    /// Output that the packet leaves; `None` for an arrival at an endpoint or over a wire.
    pub from: Option<(StageId, Port)>,
    /// Input that the packet enters; `None` for a departure to an endpoint or to a wire, whose
    /// arrival is a separate event.
    pub to: Option<(StageId, Port)>,
    /// The packet.
    pub packet: &'a Packet,
}

/// All observers of one replication.
pub struct Observers {
    stage_map: StageMap,
    captures: Vec<Capture>,
    flow_monitor: Option<FlowMonitor>,
}

impl Observers {
    /// Creates the observers of the network that `stage_map` describes.
    pub(crate) fn new(
        stage_map: StageMap,
        captures: Vec<Capture>,
        flow_monitor: Option<FlowMonitor>,
    ) -> Observers {
        Observers { stage_map, captures, flow_monitor }
    }

    fn see(&mut self, passage: &PacketEvent<'_>) {
        for capture in &mut self.captures {
            capture.see(&self.stage_map, passage);
        }
        if let Some(monitor) = &mut self.flow_monitor {
            monitor.see(&self.stage_map, passage);
        }
    }

    /// Resets the statistics at the end of the warm-up.
    pub fn start_measurement(&mut self, now: Time) {
        if let Some(monitor) = &mut self.flow_monitor {
            monitor.restart(now);
        }
    }

    /// Removes and returns the flow monitor, if any.
    pub(crate) fn take_flow_monitor(&mut self) -> Option<FlowMonitor> {
        self.flow_monitor.take()
    }

    /// Completes the capture files.
    ///
    /// # Errors
    /// Returns the first error of a capture.
    pub fn finish(self) -> std::io::Result<()> {
        self.captures.into_iter().try_for_each(Capture::finish)
    }
}

impl Observer for Observers {
    fn see_departure(&mut self, now: Time, from: (StageId, Port), packet: &Packet, to: Input) {
        if to == Input::NOWHERE || to == Input::EXIT {
            return;
        }
        let is_arrival = !self.stage_map.arrives_later(to.stage);
        let to = is_arrival.then_some((to.stage, to.port));
        self.see(&PacketEvent { now, from: Some(from), to, packet });
    }

    fn see_arrival(&mut self, now: Time, stage: StageId, packet: &Packet) {
        if !self.stage_map.arrives_later(stage) {
            return;
        }
        self.see(&PacketEvent { now, from: None, to: Some((stage, Port(0))), packet });
    }
    fn take_failure(&mut self) -> Option<StageError> {
        let failure = self.captures.iter_mut().find_map(Capture::take_failure)?;
        Some(Box::new(CaptureError(failure)))
    }
}

/// Write error of a capture.
#[derive(Debug, thiserror::Error)]
#[error("the capture cannot be written: {0}")]
pub(crate) struct CaptureError(pub(crate) std::io::Error);
