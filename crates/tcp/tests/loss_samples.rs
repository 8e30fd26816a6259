//! Samples of the bytes in the network and of losses that a congestion control receives with an ACK.
//!
//! Source: Linux `tcp_ack` (`rs.prior_in_flight` and `rs.losses` count from the arrival of the ACK),
//! draft-ietf-ccwg-bbr §"Per-ACK Rate Sample State" (RS.newly_lost).

use airpath_core::testing::TestHarness;
use airpath_core::{FlowId, Packet, Port, SackBlock, Stage, Time};
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, CongestionControl, InflightSample, LossEvent, UndoEvent,
};
use airpath_tcp::{LossDetection, RecoveryKind, Sender, SenderConfig, TcpConfig};
use std::sync::{Arc, Mutex};

const MSS: u64 = 1000;

/// A congestion control with a window of ten segments, after a timeout of one segment. Records the
/// samples.
struct Recording {
    samples: Arc<Mutex<Vec<InflightSample>>>,
    cwnd: u64,
}

impl CongestionControl for Recording {
    fn on_ack(&mut self, event: &AckEvent) {
        self.samples.lock().expect("one thread").extend(event.inflight);
    }
    fn on_loss(&mut self, _event: &LossEvent) {}
    fn on_rto(&mut self, _event: &LossEvent) {
        self.cwnd = MSS;
    }
    fn on_recovered(&mut self, _cwnd: u64) {}
    fn on_undo(&mut self, _event: &UndoEvent) {}
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn needs_rate_samples(&self) -> bool {
        true
    }
    fn sets_window_in_recovery(&self) -> bool {
        true
    }
}

/// A sender that has sent ten segments at 0 ms, and the samples of its congestion control.
struct Connection {
    sender: Sender,
    harness: TestHarness,
    samples: Arc<Mutex<Vec<InflightSample>>>,
}

impl Connection {
    fn new(loss_detection: LossDetection) -> Connection {
        let options = TcpConfig {
            mss: MSS as u32,
            initial_window: 10 * MSS,
            receive_window: 100 * MSS,
            limited_transmit: true,
            handshake: false,
            recovery: RecoveryKind::Sack,
            loss_detection,
            tail_loss_probe: false,
            ..TcpConfig::rfc()
        };
        let samples = Arc::default();
        let congestion = Recording { samples: Arc::clone(&samples), cwnd: 10 * MSS };
        let mut sender = Sender::new(SenderConfig {
            flow: FlowId(0),
            options: options.into(),
            congestion: AnyCongestion::Dyn(Box::new(congestion)),
            transfer: None,
            start: Time::ZERO,
            stop: Time::NEVER,
        });
        let mut harness = TestHarness::default();
        sender.wake(&mut harness.at(Time::ZERO));
        assert_eq!(harness.sent().len(), 10);
        Connection { sender, harness, samples }
    }

    /// Delivers, at `at` milliseconds, an ACK of everything before segment `next` and, beyond a
    /// hole, of the segments `from` … `to` − 1. Returns the sample and the segments sent.
    fn ack(&mut self, at: u64, next: u64, block: Option<(u64, u64)>) -> (InflightSample, Vec<u64>) {
        let mut ack = Packet::ack(FlowId(0), next * MSS, 100 * MSS as u32, 40);
        if let Some((from, to)) = block {
            let (offset, length) = ((from - next) * MSS, (to - from) * MSS);
            ack.push_sack(SackBlock { offset: offset as u32, length: length as u32 });
        }
        self.sender.receive(Port(0), &ack, &mut self.harness.at(Time::from_millis(at)));
        let mut samples = self.samples.lock().expect("one thread");
        assert_eq!(samples.len(), 1, "one sample for each ACK");
        let sample = samples.remove(0);
        drop(samples);
        (sample, self.sent())
    }

    /// Lets the timer of the sender expire. Returns the segments sent.
    fn expire(&mut self) -> Vec<u64> {
        let due = self.sender.next_wakeup();
        self.sender.wake(&mut self.harness.at(due));
        self.sent()
    }

    fn sent(&mut self) -> Vec<u64> {
        self.harness.sent().iter().map(|(_, packet)| packet.seq / MSS).collect()
    }
}

/// Returns bytes after and before the ACK, newly lost bytes and all lost bytes, in segments.
fn segments(sample: InflightSample) -> [u64; 4] {
    [sample.bytes, sample.prior_bytes, sample.newly_lost, sample.total_lost].map(|b| b / MSS)
}

/// A timeout deems all ten segments lost and retransmits the first. The ACK of the retransmission
/// has revealed no loss, and one segment was in the network before it.
#[test]
fn losses_of_a_timeout_do_not_count_for_the_next_ack() {
    for loss_detection in [LossDetection::Sack, LossDetection::Rack] {
        let mut connection = Connection::new(loss_detection);
        assert_eq!(connection.expire(), [0]);
        let (sample, sent) = connection.ack(1100, 1, None);
        assert_eq!((segments(sample), sent), ([0, 1, 0, 10], vec![1]));
        // The retransmitted segment 1 was the last hole before segment 9.
        let (sample, sent) = connection.ack(1200, 9, None);
        assert_eq!((segments(sample), sent), ([0, 1, 0, 10], vec![9]));
    }
}

/// Segments 1 and 2 arrive, then the reordering timer deems segment 0 lost. The ACK of segment 3 has
/// revealed no loss.
#[test]
fn losses_of_the_reordering_timer_do_not_count_for_the_next_ack() {
    let mut connection = Connection::new(LossDetection::Rack);
    let (sample, sent) = connection.ack(100, 0, Some((1, 3)));
    assert_eq!((segments(sample), sent), ([8, 10, 0, 0], vec![10, 11]));
    assert_eq!(connection.expire(), [0]);
    let (sample, sent) = connection.ack(130, 0, Some((1, 4)));
    assert_eq!((segments(sample), sent), ([9, 10, 0, 1], vec![12]));
}

/// Segments 1 to 3 arrive with one ACK, which reveals the loss of segment 0. Its retransmission,
/// which this ACK triggers, is not yet in the network. RACK deems segments 4 to 9 lost when the
/// retransmission arrives before them.
#[test]
fn loss_revealed_by_an_ack_counts_for_it() {
    for (loss_detection, after) in
        [(LossDetection::Sack, [9, 10, 0, 1]), (LossDetection::Rack, [3, 10, 6, 7])]
    {
        let mut connection = Connection::new(loss_detection);
        let (sample, sent) = connection.ack(100, 0, Some((1, 4)));
        assert_eq!((segments(sample), sent), ([6, 10, 1, 1], vec![0, 10, 11, 12]));
        let (sample, _) = connection.ack(200, 4, None);
        assert_eq!(segments(sample), after);
    }
}
