//! Helpers for tests that call stages directly.

use crate::packet::Packet;
use crate::probe::Recorder;
use crate::stage::{Bus, Ctx, DropCount, Emission, Port, Stage, StageId};
use crate::units::Time;

/// Driver of a single stage in tests.
#[derive(Debug)]
pub struct TestHarness {
    bus: Bus,
    outbox: Vec<Emission>,
}

impl Default for TestHarness {
    fn default() -> TestHarness {
        TestHarness::recording(Recorder::default())
    }
}

impl TestHarness {
    /// Creates a harness with a recorder.
    pub fn recording(recorder: Recorder) -> TestHarness {
        TestHarness { bus: Bus::new(1, recorder), outbox: Vec::new() }
    }

    /// Returns a context for a call of the stage at `now`.
    pub fn at(&mut self, now: Time) -> Ctx<'_> {
        Ctx::new(now, StageId(0), &mut self.bus, &mut self.outbox)
    }

    /// Returns the packets sent since the last call, in order.
    pub fn sent(&mut self) -> Vec<(Port, Packet)> {
        self.outbox.drain(..).map(|sent| (sent.output.place(1).1, sent.packet)).collect()
    }

    /// Returns the drops and marks.
    pub fn counts(&self) -> DropCount {
        self.bus.counts(StageId(0))
    }

    /// Returns the recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.bus.recorder
    }

    /// Returns the bus.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Wakes `stage` at each of its wake-up times up to `until`. Returns the sent packets with
    /// their times.
    pub fn run<S: Stage>(&mut self, stage: &mut S, until: Time) -> Vec<(Time, Port, Packet)> {
        let mut sent = Vec::new();
        while stage.next_wakeup() <= until {
            let now = stage.next_wakeup();
            stage.wake(&mut self.at(now));
            sent.extend(self.sent().into_iter().map(|(port, packet)| (now, port, packet)));
        }
        sent
    }
}
