//! No grant precedes the reception of its request, for all request procedures and clocks.

use super::World;
use crate::links::tdd::Clock;
use airpath_core::{Duration, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

/// How a request comes to the base station.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// After a constant time, ms.
    Drawn(u64),
    /// By a code, or an opportunity in each frame; then by a header.
    CodeAndHeader,
}

/// When frame `frame` is granted by the first map that begins at `heard` or later.
fn granted(clock: &Clock, heard: Time, relevance: u64) -> u64 {
    clock.frame_from(heard) + relevance
}

/// Earliest reception of an ACK that comes at `asked`, each step after the one that it answers.
fn soonest(clock: &Clock, way: Way, asked: Time, relevance: u64) -> Time {
    let heard = match way {
        Way::Drawn(ms) => asked + Duration::from_millis(ms),
        Way::CodeAndHeader => {
            let code = clock.received_at(clock.frame_to_close_after(asked));
            clock.received_at(granted(clock, code, relevance))
        }
    };
    clock.received_at(granted(clock, heard, relevance))
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
    /// A lone ACK, and one that comes before its burst closes and goes by piggyback: both as soon
    /// as a chain of receptions allows, and never sooner. A burst is received some time after it
    /// closes, be it in a later frame.
    #[test]
    fn a_request_is_answered_by_the_next_map_after_its_reception(
        (request, way) in requests(),
        (closed_us, more_us) in (0u64..12_000, 1u64..12_000),
        relevance in 0u64..4,
        asked_us in 0u64..20_000,
        read in prop_oneof![Just("at-once"), Just("with-mpdu")],
    ) {
        // A map that grants its own frame has to be out before the bursts close.
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
            // What a header says is what waits as it is sent: the second comes just before the
            // burst.
            let second = clock.received_at(granted(&clock, first, relevance));
            let mut world = World::new(changes);
            world.put(asked_us, 1, 0, 40).put(closes_us - 1, 1, 1, 40);
            let expected = [(first.as_nanos() / 1000, 1, 0), (second.as_nanos() / 1000, 1, 1)];
            prop_assert_eq!(world.ended(), expected);
        }
    }
}
