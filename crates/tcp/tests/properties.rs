//! A sender and a receiver joined by a channel that loses, repeats, delays and reorders: what
//! holds for every choice of options.

use crate::script;
use crate::script::Peer;
use airpath_core::test_kit::Bench;
use airpath_core::{Duration, Ecn, Flags, FlowId, Packet, Port, Stage, Time};
use airpath_tcp::congestion::{
    AnyCongestion, CongestionSetup, Dctcp, DctcpConfig, HystartKind, Reno,
};
use airpath_tcp::window::{AnyWindow, FixedWindow};
use airpath_tcp::{
    EcnUse, FastRetransmitGuard, FirstRttvar, FlightBound, Pacing, PartialAckTimer, Procedures,
    Receiver, RecoveryExit, RecoveryKind, SackAfterTimeout, Sender, SenderConfig, TcpOptions,
    WindowGrowth,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const FLOW: FlowId = FlowId(0);

/// What the channel does to a packet.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Deliver,
    Lose,
    /// Congestion is marked, if the packet allows it.
    Mark,
    /// A second copy comes so many milliseconds later.
    Repeat(u64),
    /// It comes so many milliseconds later than others.
    Delay(u64),
}

/// The bytes that have arrived, as disjoint ranges: a second, slower opinion on reassembly.
#[derive(Debug, Default)]
struct Arrived(BTreeMap<u64, u64>);

impl Arrived {
    fn add(&mut self, mut start: u64, mut end: u64) {
        let touched: Vec<(u64, u64)> =
            self.0.range(..=end).filter(|&(_, &e)| e >= start).map(|(&s, &e)| (s, e)).collect();
        for (s, e) in touched {
            self.0.remove(&s);
            (start, end) = (start.min(s), end.max(e));
        }
        self.0.insert(start, end);
    }

    /// Bytes without a gap from the start.
    fn contiguous(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }
}

/// Where a packet is going.
#[derive(Clone, Copy, Debug)]
enum To {
    Sender,
    Receiver,
}

/// A connection over a channel of constant delay with a list of fates, and its invariants.
struct Connection {
    options: TcpOptions,
    transfer: Option<u64>,
    sender: Sender,
    receiver: Receiver,
    bench: Bench,
    /// Packets under way by time of arrival, then by order of sending.
    channel: BTreeMap<(Time, u64), (To, Packet)>,
    one_way: Duration,
    fates: Vec<Fate>,
    packets: u64,
    now: Time,
    sent: u64,
    arrived: Arrived,
    /// Bytes without a gap before the last segment came.
    contiguous_before: u64,
    /// Right edge that the sender may know of, and the one last advertised.
    allowed: u64,
    advertised: u64,
}

impl Connection {
    fn new(options: &TcpOptions, transfer: Option<u64>, one_way: Duration) -> Connection {
        options.validate().expect("the options are valid");
        let window = AnyWindow::Fixed(FixedWindow::new(options.receive_window));
        Connection {
            transfer,
            sender: Sender::new(SenderConfig {
                flow: FLOW,
                options: options.clone(),
                congestion: law(options),
                transfer,
                start: Time::ZERO,
                stop: Time::NEVER,
            }),
            receiver: Receiver::new(FLOW, options, window),
            bench: Bench::default(),
            channel: BTreeMap::new(),
            one_way,
            fates: Vec::new(),
            packets: 0,
            now: Time::ZERO,
            sent: 0,
            arrived: Arrived::default(),
            contiguous_before: 0,
            allowed: if options.handshake { 0 } else { options.receive_window },
            advertised: 0,
            options: options.clone(),
        }
    }

    /// The channel's treatment of the first packets, in order of sending; the rest is delivered.
    fn with_fates(mut self, fates: Vec<Fate>) -> Connection {
        self.fates = fates;
        self
    }

    /// Runs until nothing is left to do or `until`; says whether it came to an end in `steps`.
    fn run(&mut self, until: Time, steps: usize) -> bool {
        for _ in 0..steps {
            let arrival = self.channel.keys().next().map_or(Time::NEVER, |&(time, _)| time);
            let wakeup = self.sender.next_wakeup().min(self.receiver.next_wakeup());
            let next = arrival.min(wakeup);
            if next.is_never() || next > until {
                return true;
            }
            assert!(next >= self.now, "an event in the past: {next:?} < {:?}", self.now);
            self.now = next;
            self.step(arrival <= wakeup);
            self.check();
        }
        false
    }

    fn step(&mut self, deliver: bool) {
        if deliver {
            let ((_, _), (to, packet)) = self.channel.pop_first().expect("a packet is due");
            match to {
                To::Sender => {
                    self.allowed = self.allowed.max(packet.seq + u64::from(packet.window));
                    self.sender.receive(Port(0), &packet, &mut self.bench.at(self.now));
                    self.take_segments();
                }
                To::Receiver => {
                    self.contiguous_before = self.arrived.contiguous();
                    if !packet.flags.contains(Flags::SYN) {
                        self.arrived.add(packet.seq, packet.end());
                    }
                    self.receiver.receive(Port(0), &packet, &mut self.bench.at(self.now));
                    self.take_acks();
                }
            }
        } else if self.sender.next_wakeup() <= self.now {
            self.sender.wake(&mut self.bench.at(self.now));
            self.take_segments();
        } else {
            self.receiver.wake(&mut self.bench.at(self.now));
            self.take_acks();
        }
    }

    fn take_segments(&mut self) {
        for (_, segment) in self.bench.sent() {
            if !segment.flags.contains(Flags::SYN) {
                let length = segment.payload_bytes();
                assert!(length >= 1 && length <= u64::from(self.options.mss));
                assert!(segment.end() <= self.allowed, "beyond the receiver's window");
                assert!(segment.end() <= self.transfer.unwrap_or(u64::MAX), "beyond the end");
                let again = segment.flags.contains(Flags::RETRANSMITTED);
                assert_eq!(again, segment.seq < self.sent, "a gap, or a wrong mark");
                self.check_ecn(&segment, again);
                self.sent = self.sent.max(segment.end());
            }
            assert_eq!(u64::from(segment.size), segment.payload_bytes() + self.header());
            self.launch(To::Receiver, segment);
        }
    }

    fn take_acks(&mut self) {
        let mut acks = self.bench.sent();
        if acks.len() == 2 {
            // RFC 8257 §3.2: first an ACK of what waited, with the echo that belongs to it.
            let (_, ack) = acks.remove(0);
            assert_eq!(self.options.ecn, EcnUse::Dctcp);
            assert_eq!(ack.seq, self.contiguous_before, "acknowledged what is missing");
            assert!(ack.seq + u64::from(ack.window) >= self.advertised && ack.sack().is_empty());
            self.launch(To::Sender, ack);
        }
        assert!(acks.len() <= 1, "{} ACKs", acks.len());
        for (_, ack) in acks {
            assert_eq!(ack.seq, self.arrived.contiguous(), "acknowledged what is missing");
            let edge = ack.seq + u64::from(ack.window);
            assert!(edge >= self.advertised, "the right edge moved back");
            self.check_blocks(&ack);
            self.advertised = edge;
            self.launch(To::Sender, ack);
        }
    }

    /// RFC 3168 §6.1.5: what is sent again is not ECN-capable, and does not say CWR.
    fn check_ecn(&self, segment: &Packet, again: bool) {
        let capable = self.options.ecn != EcnUse::Off && !again;
        assert_eq!(segment.ecn, if capable { Ecn::Ect0 } else { Ecn::NotEct });
        assert!(capable || !segment.flags.contains(Flags::CWR));
        assert!(!segment.flags.contains(Flags::ECE));
    }

    fn header(&self) -> u64 {
        if self.options.timestamps { 52 } else { 40 }
    }

    /// At most three disjoint blocks (RFC 2018 §3), each of them all that has arrived around it,
    /// and as many as there are (§4).
    fn check_blocks(&self, ack: &Packet) {
        let blocks = ack.sack();
        let option = if blocks.is_empty() { 0 } else { 4 + 8 * blocks.len() as u64 };
        assert_eq!(u64::from(ack.size), self.header() + option);
        let beyond = self.arrived.0.range(ack.seq + 1..).count();
        let uses_sack = matches!(self.options.recovery, RecoveryKind::Sack | RecoveryKind::Prr);
        assert_eq!(blocks.len(), if uses_sack { beyond.min(3) } else { 0 });
        for (i, block) in blocks.iter().enumerate() {
            let start = ack.seq + u64::from(block.offset);
            assert_eq!(self.arrived.0.get(&start), Some(&(start + u64::from(block.length))));
            assert!(!blocks[..i].contains(block), "a block twice");
        }
    }

    fn launch(&mut self, to: To, mut packet: Packet) {
        let fate = self.fates.get(self.packets as usize).copied().unwrap_or(Fate::Deliver);
        let due = self.now + self.one_way;
        let late = |millis| due + Duration::from_millis(millis);
        self.packets += 1;
        if matches!(fate, Fate::Mark) && packet.ecn.is_capable() {
            packet.ecn = Ecn::Ce;
        }
        let copies = match fate {
            Fate::Deliver | Fate::Mark => vec![due],
            Fate::Lose => vec![],
            Fate::Repeat(millis) => vec![due, late(millis)],
            Fate::Delay(millis) => vec![late(millis)],
        };
        for time in copies {
            // Copies of one packet at the same time are one copy; nothing depends on it.
            self.channel.insert((time, self.packets), (to, packet));
        }
    }

    fn check(&self) {
        let contiguous = self.arrived.contiguous();
        let report = self.receiver.report();
        assert_eq!(report.stream_bytes, contiguous, "a byte lost, or delivered early");
        assert_eq!(report.delivered_bytes, contiguous, "a byte delivered twice");
        assert!(self.sender.cwnd() >= u64::from(self.options.mss));
        assert!(self.sender.ssthresh() >= 2 * u64::from(self.options.mss));
        assert!(self.sender.next_wakeup() >= self.now);
        assert!(self.receiver.next_wakeup() >= self.now);
        let waits = self.sender.bytes_in_flight() > 0;
        assert!(!waits || !self.sender.next_wakeup().is_never(), "no timer for what is in flight");
    }
}

fn flag<T: Clone + std::fmt::Debug + 'static>(values: [T; 2]) -> impl Strategy<Value = T> {
    prop::sample::select(values.to_vec())
}

/// DCTCP where its echo is used, otherwise Reno.
fn law(options: &TcpOptions) -> AnyCongestion {
    let setup = CongestionSetup { options: options.clone() };
    match options.ecn {
        EcnUse::Dctcp => {
            let config =
                DctcpConfig { g: 0.0625, initial_alpha: 1.0, hystart: HystartKind::PlusPlus };
            AnyCongestion::Dctcp(Dctcp::new(config, &setup))
        }
        _ => AnyCongestion::Reno(Reno::new(&setup)),
    }
}

/// Every choice of options, with windows of some segments and timers of some round trips.
fn options() -> impl Strategy<Value = TcpOptions> {
    let choices = (
        prop::sample::select(vec![
            RecoveryKind::Reno,
            RecoveryKind::NewReno,
            RecoveryKind::Sack,
            RecoveryKind::Prr,
        ]),
        prop::sample::select(vec![
            WindowGrowth::Bytes,
            WindowGrowth::Abc1,
            WindowGrowth::Abc2,
            WindowGrowth::Segments,
            WindowGrowth::PerAck,
            WindowGrowth::PerAckTruncated,
        ]),
        flag([RecoveryExit::BurstSafe, RecoveryExit::Ssthresh]),
        flag([PartialAckTimer::First, PartialAckTimer::Each]),
        flag([FirstRttvar::Half, FirstRttvar::Full]),
        flag([SackAfterTimeout::Forget, SackAfterTimeout::Keep]),
        any::<[bool; 4]>(),
        prop::sample::select(vec![EcnUse::Off, EcnUse::On, EcnUse::Dctcp]),
    );
    let sizes = (
        prop::sample::select(vec![1u32, 7, 1000, 1460, 65_495]),
        1u64..12,
        prop::option::of(2u64..20),
        10u64..640, // tenths of a segment
    );
    let timers = (
        1u32..5,
        1u64..500,
        50u64..3000,
        prop::sample::select(vec![1u64, 200, 1000]),
        prop::sample::select(vec![0u64, 1, 100]),
        prop::sample::select(vec![1u32, 4, 64]),
        (0.05..=1.0, 0.05..=1.0),
    );
    (choices, sizes, timers).prop_map(|(choices, sizes, timers)| {
        let (recovery, window_growth, exit_window, partial_ack_timer, first_rttvar, marks, on, ecn) =
            choices;
        let (mss, initial_window, ssthresh, tenths) = sizes;
        let (delayed_ack_segments, delay, initial_rto, min_rto, grain, max_backoff, gains) = timers;
        let timestamps = on[3];
        let mss = if timestamps { mss.min(65_495 - 12) } else { mss };
        let segment = u64::from(mss);
        TcpOptions {
            mss,
            initial_window: initial_window * segment,
            initial_ssthresh: ssthresh.map(|segments| segments * segment),
            receive_window: (tenths * segment / 10).max(1),
            recovery,
            window_growth,
            exit_window,
            fast_retransmit_guard: match tenths % 3 {
                0 => FastRetransmitGuard::Off,
                1 => FastRetransmitGuard::Rfc,
                _ => FastRetransmitGuard::Ns3,
            },
            flight_bound: if grain == 0 { FlightBound::None } else { FlightBound::Cwnd },
            pacing: if grain.is_multiple_of(2) { Pacing::Off } else { Pacing::On },
            partial_ack_timer,
            limited_transmit: on[1],
            handshake: on[2],
            timestamps,
            sack_after_timeout: marks,
            ecn,
            delayed_ack_segments,
            delayed_ack_timeout: Duration::from_millis(delay),
            initial_rto: Duration::from_millis(initial_rto),
            min_rto: Duration::from_millis(min_rto),
            rto_granularity: Duration::from_millis(grain),
            max_backoff,
            srtt_gain: gains.0,
            rttvar_gain: gains.1,
            first_rttvar,
            ..TcpOptions::rfc()
        }
    })
}

/// Losses, repetitions and delays of up to 150 packets, data and ACKs alike.
fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Deliver),
        2 => Just(Fate::Lose),
        2 => Just(Fate::Mark),
        1 => (0u64..400).prop_map(Fate::Repeat),
        1 => (1u64..400).prop_map(Fate::Delay),
    ];
    prop::collection::vec(fate, 0..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    /// The invariants hold at every step (see `Connection::check`), and the transfer ends.
    #[test]
    fn every_byte_arrives_once_and_the_transfer_ends(
        options in options(), fates in fates(), tenths in 1u64..800, one_way in 0u64..120,
    ) {
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut connection = Connection::new(&options, Some(transfer), one_way).with_fates(fates);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        prop_assert!(connection.sender.report().completed_at.is_some());
        prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
        prop_assert_eq!(connection.sent, transfer);
    }

    /// Without losses, and with timers above the round trip, nothing is sent twice.
    #[test]
    fn a_lossless_channel_needs_no_retransmission(
        options in options(), tenths in 1u64..3000, one_way in 0u64..120,
    ) {
        let options = TcpOptions {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            rto_granularity: Duration::ZERO,
            ..options
        };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut connection = Connection::new(&options, Some(transfer), one_way);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        let report = connection.sender.report();
        prop_assert_eq!((report.retransmissions, report.timeouts), (0, 0));
        prop_assert_eq!(connection.receiver.report().duplicates, 0);
    }

    /// Marks are no losses: whatever is marked, nothing is sent twice, and every reduction is of
    /// a window of its own.
    #[test]
    fn marks_need_no_retransmission(
        options in options(), marks in prop::collection::vec(any::<bool>(), 0..400),
        tenths in 1u64..3000, one_way in 0u64..120,
    ) {
        let options = TcpOptions {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            rto_granularity: Duration::ZERO,
            ecn: if options.ecn == EcnUse::Off { EcnUse::On } else { options.ecn },
            ..options
        };
        let fates = marks.iter().map(|mark| if *mark { Fate::Mark } else { Fate::Deliver });
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut connection =
            Connection::new(&options, Some(transfer), one_way).with_fates(fates.collect());
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        let report = connection.sender.report();
        prop_assert_eq!((report.retransmissions, report.timeouts), (0, 0));
        prop_assert!(report.completed_at.is_some());
        if one_way > Duration::ZERO {
            let round_trips = connection.now.as_nanos() / (2 * one_way.as_nanos());
            prop_assert!(report.ecn_reductions <= round_trips);
        }
    }
}

/// What happens to a packet on its way to or from a receiver that drops what it has reported.
#[derive(Clone, Copy, Debug)]
enum Whim {
    Deliver,
    Lose,
    Delay(u64),
    /// It arrives; then the receiver drops all that it holds beyond a hole.
    Renege,
}

/// Sends a transfer to a receiver that reneges; says whether it came to an end. Every invariant
/// of the sender that depends on arithmetic (pipe, HighRxt, PRR's counts) is checked by the
/// overflow checks of the build.
fn transfer_to_a_reneging_receiver(options: &TcpOptions, transfer: u64, whims: &[Whim]) -> bool {
    let setup = CongestionSetup { options: options.clone() };
    let mut sender = Sender::new(SenderConfig {
        flow: FLOW,
        options: options.clone(),
        congestion: AnyCongestion::Reno(Reno::new(&setup)),
        transfer: Some(transfer),
        start: Time::ZERO,
        stop: Time::NEVER,
    });
    let window = options.receive_window as u32;
    let (mut peer, mut bench) = (Peer::default(), Bench::default());
    let mut channel: BTreeMap<(Time, u64), (To, Packet, bool)> = BTreeMap::new();
    let mut number = 0;
    for _ in 0..200_000 {
        let arrival = channel.keys().next().map_or(Time::NEVER, |&(time, _)| time);
        let now = arrival.min(sender.next_wakeup());
        if now.is_never() {
            return peer.next == transfer && sender.report().completed_at.is_some();
        }
        let mut launched = Vec::new();
        if arrival == now {
            let (_, (to, packet, reneges)) = channel.pop_first().expect("a packet is due");
            match to {
                To::Sender => sender.receive(Port(0), &packet, &mut bench.at(now)),
                To::Receiver => {
                    peer.take(packet.seq, packet.end());
                    let mut ack = peer.ack(window);
                    ack.tsecr = packet.tsval;
                    launched.push((To::Sender, ack));
                    if reneges {
                        peer.renege();
                    }
                }
            }
        } else {
            sender.wake(&mut bench.at(now));
        }
        launched.extend(bench.sent().into_iter().map(|(_, segment)| (To::Receiver, segment)));
        for (to, packet) in launched {
            let whim = whims.get(number as usize).copied().unwrap_or(Whim::Deliver);
            number += 1;
            let due = now + Duration::from_millis(50);
            let (due, reneges) = match whim {
                Whim::Deliver => (due, false),
                Whim::Lose => continue,
                Whim::Delay(millis) => (due + Duration::from_millis(millis), false),
                Whim::Renege => (due, true),
            };
            channel.insert((due, number), (to, packet, reneges));
        }
        assert!(sender.cwnd() >= u64::from(options.mss));
        let waits = sender.bytes_in_flight() > 0;
        assert!(!waits || !sender.next_wakeup().is_never(), "no timer for what is in flight");
    }
    false
}

fn whims() -> impl Strategy<Value = Vec<Whim>> {
    let whim = prop_oneof![
        6 => Just(Whim::Deliver),
        2 => Just(Whim::Lose),
        1 => (1u64..400).prop_map(Whim::Delay),
        2 => Just(Whim::Renege),
    ];
    prop::collection::vec(whim, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    /// RFC 2018 §8: what was acknowledged selectively may be dropped, and is sent again.
    #[test]
    fn reneging_does_no_harm(
        options in options(), prr: bool, whims in whims(), tenths in 1u64..800,
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let options = TcpOptions { recovery, handshake: false, ..options };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        prop_assert!(transfer_to_a_reneging_receiver(&options, transfer, &whims));
    }

    /// The same under ns-3's procedures: whatever is lost, delayed or dropped by the receiver, the
    /// transfer ends.
    #[test]
    fn under_ns3s_procedures_the_transfer_ends(
        options in options(), prr: bool, fates in fates(), whims in whims(), tenths in 1u64..800,
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let (procedures, ecn) = (Procedures::Ns3, EcnUse::Off);
        let options = TcpOptions { recovery, handshake: false, procedures, ecn, ..options };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        prop_assert!(transfer_to_a_reneging_receiver(&options, transfer, &whims));
        let one_way = Duration::from_millis(20);
        let mut connection = Connection::new(&options, Some(transfer), one_way).with_fates(fates);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
    }

    /// A window of losses is recovered without the timer when at least three segments and what
    /// they release arrive: RFC 6675 resends every hole as soon as `pipe` allows.
    #[test]
    fn losses_in_one_window_need_no_timeout(
        prr: bool, lost in prop::collection::btree_set(0u64..17, 1..14),
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let lost: Vec<u64> = lost.into_iter().collect();
        let course = script::sender(|given| {
            given.tcp.recovery = recovery;
            given.tcp.initial_window = 20_000;
        })
        .closed_loop(&lost, 20_000);
        prop_assert_eq!((course.timeouts, course.recoveries), (0, 1));
        prop_assert_eq!(course.retransmissions, lost.len() as u64);
        prop_assert!(course.done_at <= 300, "{} ms", course.done_at);
    }
}

/// 5 GiB in segments of nearly 64 KiB, one packet in a thousand lost.
#[test]
fn a_stream_beyond_4_gib_goes_on() {
    for recovery in [RecoveryKind::NewReno, RecoveryKind::Sack, RecoveryKind::Prr] {
        a_long_stream_goes_on(&TcpOptions {
            mss: 65_483,
            initial_window: 10 * 65_483,
            receive_window: 60_000_000,
            timestamps: recovery != RecoveryKind::NewReno,
            recovery,
            ..TcpOptions::rfc()
        });
    }
}

fn a_long_stream_goes_on(options: &TcpOptions) {
    let transfer = 5 * (1 << 30) + 7;
    let fates = (0..200_000u32)
        .map(|packet| if packet % 1000 == 999 { Fate::Lose } else { Fate::Deliver })
        .collect();
    let mut connection =
        Connection::new(options, Some(transfer), Duration::from_millis(10)).with_fates(fates);
    assert!(connection.run(Time::NEVER, 2_000_000));
    assert!(connection.sender.report().completed_at.is_some());
    assert!(connection.sender.report().fast_retransmits > 0);
}

/// Ten days without loss over a path with a round trip of 40 minutes.
#[test]
fn ten_days_without_loss() {
    // With timestamps the clock of 32 bits goes round 201 times.
    for timestamps in [false, true] {
        ten_days(timestamps);
    }
}

fn ten_days(timestamps: bool) {
    let options = TcpOptions {
        initial_rto: Duration::from_secs(3600),
        min_rto: Duration::from_secs(3600),
        max_rto: Duration::from_secs(7200),
        timestamps,
        ..TcpOptions::rfc()
    };
    let mut connection = Connection::new(&options, None, Duration::from_secs(1200));
    assert!(connection.run(Time::from_secs(10 * 86_400), 1_000_000));
    let report = connection.sender.report();
    assert_eq!((report.retransmissions, report.timeouts), (0, 0));
    let rtt = report.mean_rtt_s.expect("there were samples");
    assert!((2400.0..2401.0).contains(&rtt), "{rtt} s");
    // 360 round trips: the first for the handshake, the last ones with all 44 segments.
    let delivered = connection.receiver.report().stream_bytes;
    assert!(delivered > 300 * 44 * 1460 && delivered <= 359 * 65_535, "{delivered}");
}

/// The same with timers that expire 40 times in each round trip: every segment is resent, none
/// gives a sample (Karn), and the stream still moves on.
#[test]
fn ten_days_of_needless_timeouts() {
    for recovery in [RecoveryKind::NewReno, RecoveryKind::Sack] {
        let options = TcpOptions { recovery, ..TcpOptions::rfc() };
        let mut connection = Connection::new(&options, None, Duration::from_secs(1200));
        assert!(connection.run(Time::from_secs(10 * 86_400), 1_000_000));
        assert!(connection.receiver.report().stream_bytes > 200 * 1460);
    }
}
