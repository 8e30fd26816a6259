//! Those who look at packets between the stages and change nothing.

use crate::capture::Capture;
use crate::flow_monitor::FlowMonitor;
use crate::places::Places;
use airpath_core::{Packet, Port, StageId, Time};

/// A packet on its way from one stage to the next.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// When.
    pub now: Time,
    /// The stage that it left.
    pub from: StageId,
    /// By which output.
    pub output: Port,
    /// The stage that it enters.
    pub to: StageId,
    /// By which input.
    pub input: Port,
    /// The packet.
    pub packet: &'a Packet,
}

/// Everybody who observes one replication.
pub struct Observers {
    places: Places,
    captures: Vec<Capture>,
    flow_monitor: Option<FlowMonitor>,
}

impl Observers {
    /// Observers of the network whose stages are at `places`.
    pub(crate) fn new(
        places: Places,
        captures: Vec<Capture>,
        flow_monitor: Option<FlowMonitor>,
    ) -> Observers {
        Observers { places, captures, flow_monitor }
    }

    /// Sees a packet.
    pub fn see(&mut self, passage: &Passage<'_>) {
        for capture in &mut self.captures {
            capture.see(&self.places, passage);
        }
        if let Some(monitor) = &mut self.flow_monitor {
            monitor.see(&self.places, passage);
        }
    }

    /// The warm-up is over.
    pub fn start_measurement(&mut self, now: Time) {
        if let Some(monitor) = &mut self.flow_monitor {
            monitor.restart(now);
        }
    }

    /// Takes the flow monitor, if there is one.
    pub(crate) fn take_flow_monitor(&mut self) -> Option<FlowMonitor> {
        self.flow_monitor.take()
    }

    /// Completes the files.
    ///
    /// # Errors
    /// The first failure of each capture's sink.
    pub fn finish(self) -> std::io::Result<()> {
        self.captures.into_iter().try_for_each(Capture::finish)
    }
}
