//! Step tests: one test for each rule in the table of docs/reference/models/rlc-am.md.

use crate::links::rlc::receiver::{Receiver, ReceiverRules, StatusReport};
use crate::links::rlc::sdus::Sdus;
use crate::links::rlc::sender::{Payload, Sender};
use crate::links::rlc::sequence::{PduRun, Sn};
use crate::links::rlc::settings::{OnMaxDat, PollStop, Rules, WindowPoll};
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Duration, FlowId, Packet, QueueId, Registry, Seed, Setup, Time, testing::TestHarness,
};
use serde_json::json;
use std::ops::Range;

/// Packet sizes, bytes. Their sum exceeds the data that any test sends.
const ENDLESS: [u64; 20] = [50_000; 20];

/// Missing PDUs: number of the first PDU, and number of the last PDU plus one.
type Run = (u64, u64);

/// Parameters of sbd-2006, Table 1, with a round trip of 50 ms.
fn rules() -> Rules {
    Rules {
        window: 1024,
        payload: 40,
        concatenation: true,
        max_dat: 10,
        on_max_dat: OnMaxDat::Discard,
        poll_timer: Duration::from_millis(60),
        poll_stop: PollStop::Answer,
        poll_from: 512,
        window_poll: WindowPoll::Every,
        last_pdu_poll: true,
        last_retransmission_poll: true,
        mrw_timer: Duration::from_millis(200),
        nacks_from: Duration::from_millis(50),
    }
}

/// Parameters with a window of 8 PDUs. PDUs poll if at least 4 PDUs are outstanding.
fn narrow() -> Rules {
    Rules { window: 8, poll_from: 4, ..rules() }
}

/// A sender with its queue.
struct Sending {
    sender: Sender,
    sdus: Sdus,
    queue: Queue,
    harness: TestHarness,
}

impl Sending {
    fn new(rules: Rules) -> Sending {
        let registry = Registry::default();
        let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
        let droptail = json!({"kind": "droptail", "limit": {"packets": 10_000}});
        Sending {
            sender: Sender::new(rules),
            sdus: Sdus::new(rules.payload, rules.concatenation),
            queue: Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0)),
            harness: TestHarness::default(),
        }
    }

    /// Creates a sender with unlimited data.
    fn saturated(rules: Rules) -> Sending {
        let mut sending = Sending::new(rules);
        sending.offer_endlessly();
        sending
    }

    fn offer_endlessly(&mut self) {
        ENDLESS.into_iter().for_each(|bytes| self.offer(bytes));
    }

    fn offer(&mut self, bytes: u64) {
        let packet = Packet::datagram(FlowId(0), 0, Bytes(bytes), Time::ZERO);
        self.queue.enqueue(&packet, &mut self.harness.at(Time::ZERO));
    }

    /// Sends a TTI of `slots` PDUs at `ms`. Returns their numbers, and true if one of them polls.
    fn tti(&mut self, ms: u64, slots: u64) -> (Vec<u64>, bool) {
        let mut payload = Payload::default();
        let Sending { sender, sdus, queue, harness } = self;
        let ctx = &mut harness.at(Time::from_millis(ms));
        sender.fill(slots, sdus, Some(queue), &mut payload, ctx);
        let numbers = payload.runs.iter().flat_map(|run| {
            let first = run.first.at_or_after(0);
            first..first + u64::from(run.count)
        });
        (numbers.collect(), payload.poll)
    }

    /// Passes a report up to `last` to the sender at `ms`.
    fn report(&mut self, ms: u64, last: u64, missing: &[Run]) {
        let missing = missing.iter().map(|run| PduRun::between(run.0, run.1)).collect();
        let report = StatusReport { last: Sn::of(last), missing, ..StatusReport::default() };
        let now = Time::from_millis(ms);
        self.sender.on_status(&report, !self.queue.is_empty(), now);
        let Sending { sender, sdus, queue, harness } = self;
        let (count, bytes) = sdus.free(sender.known_end(), |pdus| sender.has_arrived(pdus));
        queue.release(count, bytes, &mut harness.at(now));
    }

    /// Returns the time, ms, at which a PDU can be sent if no new data wait.
    fn ready_at(&self) -> Option<u64> {
        let at = self.sender.ready_at(false);
        (!at.is_never()).then(|| at.as_nanos() / 1_000_000)
    }
}

fn polls(numbers: Range<u64>) -> (Vec<u64>, bool) {
    (numbers.collect(), true)
}

fn polls_not(numbers: Range<u64>) -> (Vec<u64>, bool) {
    (numbers.collect(), false)
}

// --- 11.3.2: contents of a TTI ----------------------------------------------------------------

#[test]
fn clause_11_3_2_missing_pdus_are_sent_first_in_order() {
    let mut sending = Sending::saturated(rules());
    assert_eq!(sending.tti(0, 4), polls_not(0..4));
    assert_eq!(sending.tti(10, 4), polls_not(4..8));
    sending.report(60, 8, &[(2, 3), (5, 7)]);
    assert_eq!(sending.tti(60, 2), (vec![2, 5], false));
    assert_eq!(sending.tti(70, 4), (vec![6, 8, 9, 10], true));
}

#[test]
fn clause_11_3_2_new_pdus_wait_for_the_window() {
    let mut sending = Sending::saturated(narrow());
    assert_eq!(sending.tti(0, 12), polls(0..8));
    assert_eq!(sending.sender.window_left(), 0);
    assert_eq!(sending.sender.ready_at(true), Time::from_millis(60), "nothing but Timer_Poll");
    // A missing PDU blocks the window, regardless of later arrivals.
    sending.report(50, 8, &[(3, 4)]);
    assert_eq!((sending.sender.outstanding(), sending.sender.window_left()), (5, 3));
    assert_eq!(sending.tti(50, 12), (vec![3, 8, 9, 10], true));
}

// --- 9.7.1: polls -----------------------------------------------------------------------------

#[test]
fn clause_9_7_1_the_last_pdu_in_the_buffer_polls() {
    for is_on in [true, false] {
        let mut sending = Sending::new(Rules { last_pdu_poll: is_on, ..rules() });
        sending.offer(100);
        assert_eq!(sending.tti(0, 2), polls_not(0..2));
        assert_eq!(sending.tti(10, 2), (vec![2], is_on));
    }
}

#[test]
fn clause_9_7_1_the_last_pdu_to_be_retransmitted_polls() {
    for is_on in [true, false] {
        let mut sending = Sending::saturated(Rules { last_retransmission_poll: is_on, ..rules() });
        assert_eq!(sending.tti(0, 12), polls_not(0..12));
        sending.report(60, 12, &[(3, 6)]);
        assert_eq!(sending.tti(60, 2), polls_not(3..5));
        assert_eq!(sending.tti(70, 2), (vec![5, 12], is_on));
    }
}

#[test]
fn clause_9_7_1_every_pdu_above_poll_window_polls() {
    let mut sending = Sending::saturated(narrow());
    assert_eq!(sending.tti(0, 3), polls_not(0..3));
    for number in 3..8 {
        assert_eq!(sending.tti(10 * number, 1), polls(number..number + 1));
    }
}

#[test]
fn clause_9_7_1_one_pdu_above_poll_window_polls_per_timer() {
    let mut sending = Sending::saturated(Rules { window_poll: WindowPoll::Timed, ..narrow() });
    assert_eq!(sending.tti(0, 4), polls(0..4));
    assert_eq!(sending.tti(50, 1), polls_not(4..5));
    assert_eq!(sending.tti(60, 1), polls(5..6));
    assert_eq!(sending.tti(70, 1), polls_not(6..7));
}

/// If the poll window is the complete window, the PDU that fills it polls.
#[test]
fn clause_9_7_1_poll_window_of_1_polls_at_full_window() {
    let mut sending = Sending::saturated(Rules { poll_from: 8, ..narrow() });
    assert_eq!(sending.tti(0, 7), polls_not(0..7));
    assert_eq!(sending.tti(10, 7), polls(7..8));
}

// --- 9.5: Timer_Poll --------------------------------------------------------------------------

#[test]
fn clause_9_5_next_pdu_polls_after_expiry_of_timer_poll() {
    let mut sending = Sending::new(rules());
    sending.offer(100);
    assert_eq!(sending.tti(0, 12), polls(0..3));
    sending.offer_endlessly();
    assert_eq!(sending.tti(50, 12), polls_not(3..15));
    assert_eq!(sending.tti(60, 12), polls(15..27));
    assert_eq!(sending.ready_at(), Some(120), "restarted");
}

#[test]
fn clause_9_5_last_pdu_is_retransmitted_if_timer_poll_expires_without_data() {
    let mut sending = Sending::new(rules());
    sending.offer(100);
    assert_eq!(sending.tti(0, 12), polls(0..3));
    for expiry in [60, 120, 180] {
        assert_eq!(sending.ready_at(), Some(expiry));
        assert_eq!(sending.tti(expiry, 12), polls(2..3));
    }
}

#[test]
fn clause_9_5_a_report_up_to_x_minus_1_stops_timer_poll() {
    let mut sending = Sending::new(rules());
    sending.offer(100);
    sending.tti(0, 12);
    sending.report(50, 2, &[]);
    assert_eq!(sending.ready_at(), Some(60), "x - 1 is not acknowledged");
    sending.report(55, 3, &[]);
    assert_eq!(sending.ready_at(), None);
    assert_eq!(sending.sender.outstanding(), 0);
}

/// x is 3. The arrival of the fourth PDU has shown the receiver that PDU 2 is missing.
#[test]
fn clause_9_5_a_report_that_misses_x_minus_1_stops_timer_poll() {
    let quiet = Rules { last_retransmission_poll: false, ..rules() };
    for (missing, then) in [((2, 3), None), ((0, 1), Some(60))] {
        let mut sending = Sending::new(quiet);
        sending.offer(100);
        assert_eq!(sending.tti(0, 12), polls(0..3));
        sending.offer(100);
        assert_eq!(sending.tti(1, 1), polls_not(3..4));
        sending.report(55, 4, &[missing]);
        assert_eq!(sending.tti(56, 1), polls_not(missing.0..missing.1));
        assert_eq!(sending.ready_at(), then, "an older hole does not stop it");
    }
}

/// Option with the rule of a simpler simulator: after the last data, only the response to the poll
/// stops the timer, because no further poll would follow a lost response.
#[test]
fn any_report_stops_timer_poll_if_configured() {
    for (poll_stop, waiting, then) in [
        (PollStop::Answer, true, Some(60)),
        (PollStop::Report, true, None),
        (PollStop::Report, false, Some(60)),
    ] {
        let mut sending = Sending::new(Rules { poll_stop, ..rules() });
        sending.offer(100);
        assert_eq!(sending.tti(0, 12), polls(0..3));
        if waiting {
            sending.offer(100);
        }
        sending.report(55, 2, &[]);
        assert_eq!(sending.ready_at(), then, "{poll_stop:?}, more waits: {waiting}");
    }
}

/// PDU VT(S) - 1 has arrived but an older PDU has not. If PDU VT(S) - 1 has been transmitted MaxDAT
/// - 1 times, PDU VT(A) polls instead.
#[test]
fn clause_9_7_3_poll_respects_max_dat() {
    let mut sending =
        Sending::new(Rules { max_dat: 4, last_retransmission_poll: false, ..rules() });
    sending.offer(100);
    sending.tti(0, 12);
    sending.report(50, 3, &[(0, 1)]);
    assert_eq!(sending.tti(50, 12), polls_not(0..1));
    assert_eq!(sending.tti(60, 12), polls(2..3));
    assert_eq!(sending.tti(120, 12), polls(2..3));
    assert_eq!(sending.tti(180, 12), polls(0..1));
    assert_eq!(sending.tti(240, 12), (vec![], false), "now PDU 0 is given up as well");
    assert_eq!(sending.tti(250, 12), (vec![], false));
    assert_eq!(sending.sender.skips().count(), 1);
}

// --- 11.5.3: reports at the sender ------------------------------------------------------------

#[test]
fn clause_11_5_3_report_older_than_retransmission_is_ignored() {
    let mut sending = Sending::saturated(rules());
    sending.tti(0, 12);
    sending.report(60, 12, &[(3, 4)]);
    assert_eq!(sending.tti(60, 1), polls(3..4));
    sending.report(109, 12, &[(3, 4)]);
    assert_eq!(sending.tti(109, 1), polls_not(12..13));
    sending.report(110, 13, &[(3, 4)]);
    assert_eq!(sending.tti(110, 1), polls(3..4));
}

/// TS 25.322 has no such guard: PDU 3 is sent twice within one round trip.
#[test]
fn clause_11_5_3_every_report_is_accepted_without_guard() {
    let mut sending = Sending::saturated(Rules { nacks_from: Duration::ZERO, ..rules() });
    sending.tti(0, 12);
    sending.report(60, 12, &[(3, 4)]);
    assert_eq!(sending.tti(60, 1), polls(3..4));
    sending.report(61, 12, &[(3, 4)]);
    assert_eq!(sending.tti(61, 1), polls(3..4));
}

#[test]
fn clause_11_5_3_older_report_does_not_revoke_acknowledgements() {
    let mut sending = Sending::saturated(rules());
    sending.tti(0, 12);
    sending.report(60, 12, &[(8, 9)]);
    sending.report(61, 10, &[(2, 5), (8, 9)]);
    assert_eq!(sending.sender.outstanding(), 4);
    assert_eq!(sending.tti(61, 1), polls(8..9));
    sending.report(120, 12, &[]);
    sending.report(121, 7, &[]);
    assert_eq!(sending.sender.outstanding(), 0);
}

#[test]
fn clause_9_2_2_3_runs_wrap_at_4095() {
    let mut sending = Sending::saturated(rules());
    for round in 0..409 {
        sending.tti(100 * round, 10);
        sending.report(100 * round + 50, 10 * round + 10, &[]);
    }
    assert_eq!(sending.tti(50_000, 12).0, (4090..4102).collect::<Vec<_>>(), "one run");
    sending.report(50_050, 4102, &[(4093, 4099)]);
    assert_eq!(
        (sending.sender.outstanding(), sending.tti(50_050, 3).0),
        (9, vec![4093, 4094, 4095])
    );
    assert_eq!(sending.tti(50_060, 4).0, [0, 1, 2, 6]);
    sending.report(50_110, 4103, &[]);
    assert_eq!(sending.sender.outstanding(), 0);
}

// --- the receiver -----------------------------------------------------------------------------

fn receiver(missing_pdu_indicator: bool) -> Receiver {
    let status_prohibit = Duration::from_millis(60);
    Receiver::new(ReceiverRules { window: 1024, status_prohibit, missing_pdu_indicator })
}

fn arrive(receiver: &mut Receiver, pdus: Range<u64>) {
    receiver.on_pdus(PduRun::between(pdus.start, pdus.end));
}

fn written(receiver: &mut Receiver, ms: u64) -> StatusReport {
    let mut report = StatusReport::default();
    receiver.write_status(Time::from_millis(ms), &mut report);
    report
}

fn content(last: u64, missing: &[Run]) -> StatusReport {
    let missing = missing.iter().map(|run| PduRun::between(run.0, run.1)).collect();
    StatusReport { last: Sn::of(last), missing, ..StatusReport::default() }
}

#[test]
fn clause_9_7_2_a_gap_triggers_one_report() {
    let mut receiver = receiver(true);
    arrive(&mut receiver, 0..2);
    assert!(receiver.status_at().is_never());
    arrive(&mut receiver, 4..6);
    assert_eq!(receiver.status_at(), Time::ZERO);
    written(&mut receiver, 0);
    // Neither later PDUs nor PDUs that partly fill the gap trigger another report.
    arrive(&mut receiver, 6..8);
    arrive(&mut receiver, 2..3);
    assert!(receiver.status_at().is_never());
    arrive(&mut receiver, 9..10);
    assert_eq!(receiver.status_at(), Time::from_millis(60));
}

#[test]
fn clause_9_7_2_gap_triggers_no_report_without_indicator() {
    let mut receiver = receiver(false);
    arrive(&mut receiver, 4..6);
    assert!(receiver.status_at().is_never());
    receiver.want_status();
    assert_eq!(receiver.status_at(), Time::ZERO);
}

#[test]
fn clause_9_5_a_prohibited_report_is_up_to_date_when_it_leaves() {
    let mut receiver = receiver(true);
    arrive(&mut receiver, 0..2);
    receiver.want_status();
    assert_eq!(written(&mut receiver, 10), content(2, &[]));
    arrive(&mut receiver, 4..5);
    receiver.want_status();
    assert_eq!(receiver.status_at(), Time::from_millis(70));
    arrive(&mut receiver, 2..3);
    arrive(&mut receiver, 5..9);
    assert_eq!(written(&mut receiver, 70), content(9, &[(3, 4)]));
    assert!(receiver.status_at().is_never(), "one report for all triggers");
}

#[test]
fn clause_9_2_2_11_report_contains_last_number_and_missing_pdus() {
    let mut receiver = receiver(true);
    for pdus in [0..2, 4..5, 7..8] {
        arrive(&mut receiver, pdus);
    }
    assert_eq!(written(&mut receiver, 0), content(8, &[(2, 4), (5, 7)]));
    arrive(&mut receiver, 2..8);
    assert_eq!((receiver.next(), receiver.duplicates), (8, 2));
    assert_eq!(written(&mut receiver, 0), content(8, &[]));
}

#[test]
fn clause_9_2_2_11_missing_run_wraps_at_4095() {
    let mut receiver = receiver(true);
    (0..409).for_each(|round| arrive(&mut receiver, 10 * round..10 * round + 10));
    arrive(&mut receiver, 4100..4101);
    let report = written(&mut receiver, 0);
    assert_eq!(report, content(4101, &[(4090, 4100)]));
    assert_eq!(report.last, Sn::of(5));
    arrive(&mut receiver, 4090..4100);
    assert_eq!(receiver.next(), 4101);
}

#[test]
fn clause_11_3_3_pdus_outside_window_are_discarded() {
    let mut receiver = receiver(true);
    arrive(&mut receiver, 0..10);
    arrive(&mut receiver, 3..5);
    arrive(&mut receiver, 10 + 1024..10 + 1025);
    assert_eq!((receiver.next(), receiver.duplicates), (10, 3));
    assert!(receiver.status_at().is_never());
}

// --- 9.2.2.8: segmentation --------------------------------------------------------------------

/// Returns the number of PDUs of `count` SDUs of `bytes`.
fn pdus(bytes: u64, count: u64, concatenation: bool) -> u64 {
    let mut sending = Sending::new(Rules { concatenation, window: 2047, ..rules() });
    (0..count).for_each(|_| sending.offer(bytes));
    sending.tti(0, 2047).0.len() as u64
}

/// Each SDU needs 1501 bytes of payload, except that one of 21 SDUs fills its last PDU exactly. The
/// result is 37.524 PDUs per SDU; it would be 37.525 if the exact SDU needed a length indicator.
#[test]
fn clause_9_2_2_8_sdus_of_1500_bytes_share_pdus() {
    assert_eq!(pdus(1500, 21, true), 788);
    assert_eq!(20 * 1501 + 1500, 788 * 40);
    assert!((pdus(1500, 42, true) as f64 / 42.0 - 37.525).abs() < 0.002);
    assert_eq!(pdus(1500, 21, false), 21 * 38);
}

#[test]
fn clause_9_2_2_8_an_ack_of_40_bytes_is_one_pdu() {
    for concatenation in [true, false] {
        assert_eq!(pdus(40, 1, concatenation), 1);
        assert_eq!(pdus(40, 100, concatenation), 100);
        assert_eq!(pdus(41, 1, concatenation), 2);
    }
    // A length indicator fills the PDU, or leaves one byte for the next SDU.
    assert_eq!((pdus(39, 100, true), pdus(38, 40, true)), (100, 39));
}

// --- the buffer, MaxDAT -----------------------------------------------------------------------

#[test]
fn sdus_are_freed_while_older_sdu_is_incomplete() {
    let mut sending = Sending::new(rules());
    (0..4).for_each(|_| sending.offer(79));
    assert_eq!(sending.tti(0, 7).0.len(), 7, "three SDUs and half of the fourth");
    assert_eq!((sending.queue.occupancy(), sending.queue.packets()), (4, 0));
    sending.report(50, 7, &[(0, 1)]);
    assert_eq!(sending.queue.occupancy(), 2, "the first and the fourth");
    assert_eq!(sending.tti(50, 2).0, [0, 7]);
    sending.report(110, 8, &[(0, 1)]);
    assert_eq!(sending.queue.occupancy(), 1);
    sending.report(120, 8, &[]);
    assert_eq!(sending.queue.occupancy(), 0);
}

/// Four SDUs of 59 bytes are in six PDUs; pairs share a PDU. After too many losses the receiver
/// must skip only PDUs without data of an SDU in use.
#[test]
fn clause_9_7_3_max_dat_discards_only_sdus_of_the_pdu() {
    for (lost, skipped) in [(0, 0..1), (1, 0..3), (2, 2..3), (3, 3..4), (4, 3..6), (5, 5..6)] {
        let mut sending = Sending::new(Rules { max_dat: 3, ..rules() });
        (0..4).for_each(|_| sending.offer(59));
        assert_eq!(sending.tti(0, 12), polls(0..6));
        sending.report(50, 6, &[(lost, lost + 1)]);
        assert_eq!(sending.tti(50, 12), polls(lost..lost + 1));
        assert_eq!(sending.queue.occupancy(), if lost % 3 == 1 { 2 } else { 1 });
        sending.report(100, 6, &[(lost, lost + 1)]);
        assert_eq!(sending.tti(100, 12), polls_not(0..0));
        let skips: Vec<_> = sending.sender.skips().map(|(_, skip)| skip.pdus()).collect();
        assert_eq!(skips, [skipped], "PDU {lost}");
        assert_eq!(sending.queue.occupancy(), 0);
    }
}
