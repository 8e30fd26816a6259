//! Calls of the congestion control for an ACK that only updates the window.

use airpath_core::testing::TestHarness;
use airpath_core::{Duration, Flags, FlowId, Packet, Port, SackBlock, Stage, Time};
use airpath_tcp::congestion::{AckEvent, AnyCongestion, CongestionControl, LossEvent, UndoEvent};
use airpath_tcp::{RecoveryKind, Sender, SenderConfig, TcpConfig};
use std::sync::{Arc, Mutex};

const MSS: u64 = 1000;

/// A congestion control with a window of ten segments that records every ACK event.
struct Hearing(Arc<Mutex<Vec<AckEvent>>>);

impl CongestionControl for Hearing {
    fn on_ack(&mut self, event: &AckEvent) {
        self.0.lock().expect("one thread").push(*event);
    }
    fn on_loss(&mut self, _event: &LossEvent) {}
    fn on_rto(&mut self, _event: &LossEvent) {}
    fn on_recovered(&mut self, _cwnd: u64) {}
    fn on_undo(&mut self, _event: &UndoEvent) {}
    fn cwnd(&self) -> u64 {
        10 * MSS
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn needs_rate_samples(&self) -> bool {
        true
    }
}

/// A sender that has sent ten segments, which fill the receive window, and the calls of its
/// congestion control.
struct RecordedAcks {
    sender: Sender,
    harness: TestHarness,
    events: Arc<Mutex<Vec<AckEvent>>>,
}

impl RecordedAcks {
    fn of(options: TcpConfig) -> RecordedAcks {
        let events = Arc::default();
        let sender = Sender::new(SenderConfig {
            flow: FlowId(0),
            options: options.into(),
            congestion: AnyCongestion::Dyn(Box::new(Hearing(Arc::clone(&events)))),
            transfer: None,
            start: Time::ZERO,
            stop: Time::NEVER,
        });
        let (mut sender, mut harness) = (sender, TestHarness::default());
        sender.wake(&mut harness.at(Time::ZERO));
        assert_eq!(harness.sent().len(), 10);
        RecordedAcks { sender, harness, events }
    }

    /// Delivers, at `at` milliseconds, an ACK of everything before `seq` with the SACK block
    /// `block`. Its window ends after the tenth segment, so no segment is sent. Returns the event
    /// of the congestion control.
    fn ack(&mut self, at: u64, seq: u64, flags: Flags, block: Option<(u64, u64)>) -> AckEvent {
        let mut ack = Packet::ack(FlowId(0), seq, (10 * MSS - seq) as u32, 40);
        ack.flags = flags;
        if let Some((start, end)) = block {
            let (offset, length) = ((start - seq) as u32, (end - start) as u32);
            ack.push_sack(SackBlock { offset, length });
        }
        self.sender.receive(Port(0), &ack, &mut self.harness.at(Time::from_millis(at)));
        assert!(self.harness.sent().is_empty());
        let mut events = self.events.lock().expect("one thread");
        assert_eq!(events.len(), 1, "one event for each ACK");
        events.remove(0)
    }

    /// Delivers a window update, and checks that the event contains no other information.
    fn update(&mut self, at: u64, seq: u64, block: Option<(u64, u64)>) -> AckEvent {
        let event = self.ack(at, seq, Flags::WINDOW_UPDATE, block);
        assert_eq!((event.acked, event.delivered, event.growth), (0, 0, None), "at {at} ms");
        assert_eq!((event.rtt, event.rate), (None, None), "at {at} ms");
        assert!(!event.duplicate, "at {at} ms");
        event
    }
}

fn every_recovery() -> Vec<TcpConfig> {
    let plain = TcpConfig {
        mss: MSS as u32,
        initial_window: 10 * MSS,
        receive_window: 10 * MSS,
        limited_transmit: false,
        handshake: false,
        ..TcpConfig::rfc()
    };
    let with = |recovery| TcpConfig { recovery, ..plain.clone() };
    let ns3 = TcpConfig { stack: airpath_tcp::StackVariant::Ns3, ..with(RecoveryKind::Sack) };
    let kinds = [RecoveryKind::Reno, RecoveryKind::NewReno, RecoveryKind::Sack, RecoveryKind::Prr];
    kinds.map(with).into_iter().chain([ns3]).collect()
}

/// With data outstanding, before and after an ACK of one segment, and without data outstanding.
/// Samples count only arrived data: one segment, then all ten.
#[test]
fn window_update_delivers_nothing() {
    for options in every_recovery() {
        let mut heard = RecordedAcks::of(options.clone());
        assert_eq!(heard.update(50, 0, None).in_flight, 10 * MSS);
        let first = heard.ack(60, MSS, Flags::NONE, None);
        assert_eq!((first.acked, first.delivered, first.duplicate), (MSS, MSS, false));
        let sample = first.rate.expect("a sample");
        assert_eq!(sample.total_delivered, MSS, "{options:?}");
        assert_eq!(sample.interval, Duration::from_millis(60), "{options:?}");
        assert_eq!(heard.update(70, MSS, None).in_flight, 9 * MSS);
        let rest = heard.ack(80, 10 * MSS, Flags::NONE, None);
        assert_eq!((rest.acked, rest.delivered, rest.in_flight), (9 * MSS, 9 * MSS, 0));
        assert_eq!(rest.rate.map(|sample| sample.total_delivered), Some(10 * MSS), "{options:?}");
        assert_eq!(heard.update(90, 10 * MSS, None).in_flight, 0);
    }
}

/// A block counts once: an update that repeats it delivers nothing.
#[test]
fn window_update_that_repeats_a_block_delivers_nothing() {
    for options in every_recovery().into_iter().filter(|options| options.recovery.uses_sack()) {
        let mut heard = RecordedAcks::of(options.clone());
        let block = Some((3 * MSS, 4 * MSS));
        let told = heard.ack(60, 0, Flags::NONE, block);
        assert_eq!((told.delivered, told.sacked, told.duplicate), (MSS, MSS, true), "{options:?}");
        assert_eq!(heard.update(70, 0, block).sacked, MSS, "{options:?}");
        let filled = heard.ack(80, 4 * MSS, Flags::NONE, None);
        assert_eq!((filled.acked, filled.delivered), (4 * MSS, 3 * MSS), "{options:?}");
    }
}
