//! Tests of a link whose rate is zero for some time. No packet is lost, and the time at rate zero
//! does not count as busy time.

use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Control, FlowId, Packet, Port, QueueId, Rate, Registry, Seed, Setup, Stage, Time,
    testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Link, LinkContext};
use serde_json::json;

/// A link of 12 kbit/s, on which a packet of 1500 bytes takes one second.
fn link() -> AnyLink {
    let queues = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": 10}});
    let queue = Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0));
    let context = LinkContext::new(DirectionContext::of(queue, Port(0)));
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
    AnyLink::build(&json!({"kind": "fixed", "rate_bps": 12_000}), setup).expect("a link")
}

#[test]
fn time_at_rate_zero_does_not_count_as_busy() {
    let (mut harness, mut link) = (TestHarness::default(), link());
    let set_rate = |harness: &mut TestHarness, link: &mut AnyLink, at: u64, rate: u64| {
        link.control(&Control::Rate(Rate(rate)), &mut harness.at(Time::from_secs(at)));
    };
    let send = |harness: &mut TestHarness, link: &mut AnyLink, at: u64| {
        let now = Time::from_secs(at);
        let packet = Packet::datagram(FlowId(0), at, Bytes(1500), now);
        link.receive(Port(0), &packet, &mut harness.at(now));
    };
    let utilisation =
        |link: &AnyLink, at: u64| link.reports(Time::from_secs(at))[0].link.utilisation;

    send(&mut harness, &mut link, 0);
    assert_eq!(harness.run(&mut link, Time::from_secs(1)).len(), 1);
    set_rate(&mut harness, &mut link, 2, 0);
    send(&mut harness, &mut link, 3);
    assert_eq!(harness.run(&mut link, Time::from_secs(500)).len(), 0);
    assert_eq!(utilisation(&link, 100), 0.01);
    set_rate(&mut harness, &mut link, 198, 12_000);
    let departures = harness.run(&mut link, Time::from_secs(500));
    assert_eq!(departures.iter().map(|(at, _, _)| *at).collect::<Vec<_>>(), [Time::from_secs(199)]);
    assert_eq!(utilisation(&link, 200), 0.01);
}
