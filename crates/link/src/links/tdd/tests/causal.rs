//! Tests that no grant precedes the reception of its request, for all request procedures and
//! clocks.

use super::World;
use crate::links::tdd::Clock;
use airpath_core::{Duration, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Time at which the base station receives a request.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A constant time after the arrival of the data, ms.
    Drawn(u64),
    /// After a ranging code or a scheduling request, and then a request header.
    CodeAndHeader,
}

/// Returns the frame that is granted by the first map at or after `received_at`.
fn granted(clock: &Clock, received_at: Time, relevance: u64) -> u64 {
    clock.frame_from(received_at) + relevance
}

/// Returns the earliest time of reception of an ACK that arrives at `asked`. Each step starts when
/// the previous step is complete.
fn soonest(clock: &Clock, way: Way, asked: Time, relevance: u64) -> Time {
    let received_at = match way {
        Way::Drawn(ms) => asked + Duration::from_millis(ms),
        Way::CodeAndHeader => {
            let code = clock.received_at(clock.frame_to_close_after(asked));
            clock.received_at(granted(clock, code, relevance))
        }
    };
    clock.received_at(granted(clock, received_at, relevance))
}

fn requests() -> impl Strategy<Value = (Value, Way)> {
    let ns = |ms: u64| ms * 1_000_000;
    prop_oneof![
        (0u64..60).prop_map(move |ms| (
            json!({"kind": "random-delay", "delay": {"low_ns": ns(ms), "high_ns": ns(ms)},
                   "collision": 0.0, "timer_ns": 1}),
            Way::Drawn(ms),
        )),
        Just((
            json!({"kind": "ranging", "codes": 1, "timer_ns": 1, "backoff": [1, 1]}),
            Way::CodeAndHeader,
        )),
        Just((json!({"kind": "scheduling-request", "period_ns": 5_000_000}), Way::CodeAndHeader,)),
    ]
}

proptest! {
    /// There are two ACKs: an isolated one, and one that arrives before the burst of the first one
    /// closes and for which bandwidth is requested by piggyback. Both are received at the earliest
    /// possible time, and never earlier. A burst may be received in a later frame than the one in
    /// which it closes.
    #[test]
    fn request_is_granted_by_next_map_after_reception(
        (request, way) in requests(),
        (closed_us, more_us) in (0u64..12_000, 1u64..12_000),
        relevance in 0u64..4,
        asked_us in 0u64..20_000,
        read in prop_oneof![Just("at-once"), Just("with-mpdu")],
    ) {
        // A map that grants its own frame must be sent before the bursts close.
        let closed_us = if relevance == 0 { closed_us.max(1) } else { closed_us };
        let us = |us: u64| Duration::from_nanos(us * 1000);
        let clock = Clock::new(us(5000), us(3000), us(closed_us), us(closed_us + more_us));
        let changes = json!({
            "request": request, "map_relevance": relevance, "piggyback_read": read,
            "closed_ns": closed_us * 1000, "received_ns": (closed_us + more_us) * 1000,
        });
        let first = soonest(&clock, way, Time::from_nanos(asked_us * 1000), relevance);
        let closes_us = first.as_nanos() / 1000 - more_us;
        let mut world = World::new(changes.clone());
        world.put(asked_us, 1, 0, 40);
        prop_assert_eq!(world.ended(), [(first.as_nanos() / 1000, 1, 0)]);
        if closes_us > asked_us + 1 {
            // A header contains the backlog at its transmission, so the second ACK arrives just
            // before the burst.
            let second = clock.received_at(granted(&clock, first, relevance));
            let mut world = World::new(changes);
            world.put(asked_us, 1, 0, 40).put(closes_us - 1, 1, 1, 40);
            let expected = [(first.as_nanos() / 1000, 1, 0), (second.as_nanos() / 1000, 1, 1)];
            prop_assert_eq!(world.ended(), expected);
        }
    }
}
