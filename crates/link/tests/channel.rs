//! When a link asks its channel, and what it does with the answer.

use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Control, DropReason, FlowId, Packet, Port, QueueId, Rate, Registry, Seed, Setup, Stage,
    Time, test_kit::Bench,
};
use airpath_link::trace_file::Trace;
use airpath_link::{AnyLink, Link, LinkKit, SideKit, Traces};
use airpath_phy::channel::{Channel, ChannelRegistry};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000;

/// Begin and end of each frame, ns.
type Asked = Arc<Mutex<Vec<(u64, u64)>>>;

/// Notes what it is asked and destroys every second frame, the first not.
struct EverySecond(Asked);

impl Channel for EverySecond {
    fn destroys(&mut self, began: Time, ended: Time) -> bool {
        let mut asked = self.0.lock().expect("one thread");
        asked.push((began.as_nanos(), ended.as_nanos()));
        asked.len().is_multiple_of(2)
    }
}

fn build(mut description: Value, asked: &Asked) -> Result<AnyLink, String> {
    if description["channel"].is_null() {
        description["channel"] = json!({"kind": "every-second"});
    }
    let queues = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": 100}});
    let queue = Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0));
    let opportunities = Trace::parse_mahimahi("test", "1\n2\n3\n10\n").expect("a trace");
    let rates = Trace::parse_csv("test", "time_s,rate_bps\n0,8e6\n1,8e6\n").expect("a trace");
    let traces: Traces =
        [("t", opportunities), ("r", rates)].map(|(name, t)| (name.to_owned(), Arc::new(t))).into();
    let mut channels = ChannelRegistry::default();
    let told = Arc::clone(asked);
    channels.register("every-second", move |_, _| Ok(Box::new(EverySecond(Arc::clone(&told)))));
    let kit = LinkKit {
        files: Arc::new(traces.into()),
        channels: Arc::new(channels),
        ..LinkKit::new(SideKit::of(queue, Port(0)))
    };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: kit };
    AnyLink::build(&description, setup).map_err(|error| error.to_string())
}

/// Four packets of 1000 bytes, three at 0 and one at 20 ms; numbers of those that came through.
fn deliver(description: Value) -> (Vec<(u64, u64)>, Vec<u64>) {
    let asked = Asked::default();
    let mut link = build(description, &asked).expect("a link");
    let mut bench = Bench::default();
    let mut arrived = Vec::new();
    for (seq, at) in [(0, 0), (1, 0), (2, 0), (3, 20 * MS)] {
        let now = Time::from_nanos(at);
        arrived.extend(bench.run(&mut link, now));
        let packet = Packet::datagram(FlowId(0), seq, Bytes(1000), now);
        link.receive(Port(0), &packet, &mut bench.at(now));
    }
    arrived.extend(bench.run(&mut link, Time::from_secs(1)));
    let report = &link.reports(Time::from_secs(1))[0].link;
    assert_eq!((report.delivered_packets, report.lost_packets), (2, 2));
    assert_eq!(bench.counts().dropped[DropReason::Channel as usize], 2);
    assert_eq!(link.held(), 0);
    let asked = asked.lock().expect("one thread").clone();
    (asked, arrived.into_iter().map(|(_, _, packet)| packet.seq).collect())
}

#[test]
fn a_serial_link_asks_for_the_time_from_the_first_bit_to_the_last() {
    let frames = [(0, MS), (MS, 2 * MS), (2 * MS, 3 * MS), (20 * MS, 21 * MS)];
    for description in [
        json!({"kind": "fixed", "rate_bps": 8_000_000}),
        json!({"kind": "multi-regime", "thresholds": [5],
               "regimes": [{"rate_bps": 8_000_000, "per": 0}, {"rate_bps": 1, "per": 0}]}),
        json!({"kind": "rate-trace", "trace": "r"}),
    ] {
        let (asked, arrived) = deliver(description.clone());
        assert_eq!(asked, frames, "{description}");
        assert_eq!(arrived, [0, 2], "{description}");
    }
}

#[test]
fn a_trace_link_asks_for_the_time_from_the_first_opportunity_to_the_last() {
    // 1504 bytes at 1, 2, 3, 10 ms and so on: packet 1 takes the rest of the first opportunity and
    // a part of the second. An opportunity is an instant; the end is exclusive.
    let (asked, arrived) = deliver(json!({"kind": "trace", "trace": "t"}));
    let until = |ms| ms * MS + 1;
    assert_eq!(asked, [(MS, until(1)), (MS, until(2)), (2 * MS, until(2)), (21 * MS, until(21))]);
    assert_eq!(arrived, [0, 2]);
}

#[test]
fn what_the_links_own_loss_takes_the_channel_is_not_asked() {
    let asked = Asked::default();
    let lossy = json!({"kind": "fixed", "rate_bps": 8_000_000, "loss": 1});
    let mut link = build(lossy, &asked).expect("a link");
    let mut bench = Bench::default();
    let packet = Packet::datagram(FlowId(0), 0, Bytes(1000), Time::ZERO);
    link.receive(Port(0), &packet, &mut bench.at(Time::ZERO));
    assert!(bench.run(&mut link, Time::from_secs(1)).is_empty());
    assert_eq!(bench.counts().dropped[DropReason::Channel as usize], 1);
    assert!(asked.lock().expect("one thread").is_empty());
}

/// A packet that waits for a rate above zero is not on the air.
#[test]
fn a_stalled_packet_is_on_the_air_when_it_is_sent_again() {
    let asked = Asked::default();
    let mut link = build(json!({"kind": "fixed", "rate_bps": 8_000_000}), &asked).expect("a link");
    let mut bench = Bench::default();
    link.control(&Control::Rate(Rate(0)), &mut bench.at(Time::ZERO));
    let packet = Packet::datagram(FlowId(0), 0, Bytes(1000), Time::ZERO);
    link.receive(Port(0), &packet, &mut bench.at(Time::ZERO));
    let again = Time::from_millis(50);
    link.control(&Control::Rate(Rate(8_000_000)), &mut bench.at(again));
    bench.run(&mut link, Time::from_secs(1));
    assert_eq!(*asked.lock().expect("one thread"), [(50 * MS, 51 * MS)]);
}

#[test]
fn errors_say_where_the_channel_stands() {
    for description in [
        json!({"kind": "fixed", "rate_bps": 1}),
        json!({"kind": "multi-regime", "thresholds": [], "regimes": [{"rate_bps": 1, "per": 0}]}),
        json!({"kind": "trace", "trace": "t"}),
        json!({"kind": "rate-trace", "trace": "r"}),
    ] {
        let mut wrong = description.clone();
        wrong["channel"] = json!({"kind": "independent", "loss": 2});
        let error = build(wrong, &Asked::default()).err();
        let expected = "channel.loss = 2: not a probability. Write a number in [0, 1]";
        assert_eq!(error.as_deref(), Some(expected), "{description}");
        let mut unknown = description;
        unknown["channel"] = json!({"kind": "rain"});
        let error = build(unknown, &Asked::default()).err();
        let expected = "channel.kind = rain: unknown. \
                        Accepted: independent, gilbert-elliott, burst, every-second";
        assert_eq!(error.as_deref(), Some(expected));
    }
}
