//! Tests that the fast path (`sender/fast_path.rs`) does not change results.

use crate::random_channel::*;
use airpath_conformance::cases;
use airpath_core::{Duration, Ecn, Rate, Stage, StageError, Time};
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, BurstSize, CongestionControl, IdleEvent, LossEvent, LostSegment,
    PathModel, UndoEvent,
};
use airpath_tcp::{EcnUse, Sender, SenderConfig, TcpConfig, delegate_congestion};
use proptest::prelude::*;

/// A congestion control that requests delivery rate samples but does not use them. The request
/// disables the fast path.
struct Watching(AnyCongestion);

impl airpath_tcp::congestion::CongestionWrapper for Watching {
    delegate_congestion!(0: on_ack, needs_every_ack, on_loss, on_rto, on_recovered, on_lost_syn);
    delegate_congestion!(0: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate, on_undo);
    delegate_congestion!(0: on_negotiated, take_error);
    delegate_congestion!(0: sets_window_in_recovery, limits_itself, on_open);
    delegate_congestion!(0: on_segment_lost, path_model, burst_size);

    fn needs_rate_samples(&self) -> bool {
        true
    }
}

fn watched(options: &TcpConfig, transfer: u64, one_way: Duration) -> Connection {
    let mut connection = Connection::new(options, Some(transfer), one_way);
    connection.sender = Sender::new(SenderConfig {
        flow: FLOW,
        options: options.clone().into(),
        congestion: AnyCongestion::Dyn(Box::new(Watching(cc(options)))),
        transfer: Some(transfer),
        start: Time::ZERO,
        stop: Time::NEVER,
    });
    connection
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..Default::default() })]

    /// Compares two senders event by event, for all combinations of options, on a channel that
    /// loses, duplicates and reorders packets.
    #[test]
    fn fast_path_does_not_change_results(
        options in options(), treatments in treatments(), tenths in 1u64..3000, one_way in 0u64..120,
    ) {
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut fast_path = Connection::new(&options, Some(transfer), one_way).with_treatments(treatments.clone());
        let mut other = watched(&options, transfer, one_way).with_treatments(treatments);
        for _ in 0..200_000 {
            let is_over = fast_path.run(Time::NEVER, 1);
            prop_assert_eq!(other.run(Time::NEVER, 1), is_over);
            prop_assert_eq!((fast_path.now, fast_path.packets, fast_path.sent), (other.now, other.packets, other.sent));
            prop_assert_eq!(fast_path.sender.info(), other.sender.info());
            prop_assert_eq!(fast_path.sender.next_wakeup(), other.sender.next_wakeup());
            let limited = |connection: &Connection| connection.sender.receive_window_limited(connection.now);
            prop_assert_eq!(limited(&fast_path), limited(&other));
            if is_over {
                break;
            }
        }
        prop_assert_eq!(fast_path.sender.report(), other.sender.report());
        prop_assert!(fast_path.sender.report().completed_at.is_some());
    }
}
