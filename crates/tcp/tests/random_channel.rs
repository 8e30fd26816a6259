//! A sender and a receiver over a channel that loses, duplicates, delays and reorders packets, with
//! invariants that are checked after every step.

use airpath_core::testing::TestHarness;
use airpath_core::{Duration, Ecn, Flags, FlowId, Packet, Port, SackBlock, Stage, Time};
use airpath_tcp::congestion::{
    AiScaling, AnyCongestion, CongestionSetup, Dctcp, DctcpConfig, Freeze, HystartKind, OnLoss,
    Reno, Vcp, VcpConfig,
};
use airpath_tcp::window::{AnyWindow, FixedWindow};
use airpath_tcp::{
    EcnUse, FastRetransmitGuard, FirstRttvar, FlightBound, Pacing, PartialAckTimer, Receiver,
    RecoveryExit, RecoveryKind, SackAfterTimeout, Sender, SenderConfig, StackVariant, TcpConfig,
    WindowGrowth,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(crate) const FLOW: FlowId = FlowId(0);

/// Treatment of a packet by the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketTreatment {
    Deliver,
    Lose,
    /// The packet is marked if it is ECN-capable.
    Mark,
    /// A second copy arrives this many milliseconds later.
    Repeat(u64),
    /// The packet is delayed by this many milliseconds.
    Delay(u64),
}

/// Bytes that have arrived, as disjoint ranges: an independent, slower implementation of
/// reassembly.
#[derive(Debug, Default)]
pub(crate) struct SegmentOrder(BTreeMap<u64, u64>);

impl SegmentOrder {
    pub(crate) fn add(&mut self, mut start: u64, mut end: u64) {
        let touched: Vec<(u64, u64)> =
            self.0.range(..=end).filter(|&(_, &e)| e >= start).map(|(&s, &e)| (s, e)).collect();
        for (s, e) in touched {
            self.0.remove(&s);
            (start, end) = (start.min(s), end.max(e));
        }
        self.0.insert(start, end);
    }

    /// Returns the number of bytes without a gap from the start.
    pub(crate) fn contiguous(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }
}

/// Destination of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Sender,
    Receiver,
}

/// A connection over a channel of constant delay with a list of packet treatments, and its
/// invariants.
pub(crate) struct Connection {
    pub(crate) options: TcpConfig,
    pub(crate) transfer: Option<u64>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) harness: TestHarness,
    /// Packets in flight, ordered by arrival time and then by order of sending.
    pub(crate) channel: BTreeMap<(Time, u64), (To, Packet)>,
    pub(crate) one_way: Duration,
    pub(crate) treatments: Vec<PacketTreatment>,
    pub(crate) packets: u64,
    pub(crate) now: Time,
    pub(crate) sent: u64,
    pub(crate) arrived: SegmentOrder,
    /// Number of in-order bytes before the arrival of the last segment.
    contiguous_before: u64,
    /// Highest load code that has arrived since the last ACK.
    highest_code: u8,
    /// Bytes that have arrived with a mark, duplicates included.
    marked: u64,
    /// Highest right edge that the sender may have received. `advertised` is the last advertised edge.
    allowed: u64,
    advertised: u64,
}

impl Connection {
    pub(crate) fn new(options: &TcpConfig, transfer: Option<u64>, one_way: Duration) -> Connection {
        Connection::with_control(options, transfer, one_way, cc(options))
    }

    pub(crate) fn with_control(
        options: &TcpConfig,
        transfer: Option<u64>,
        one_way: Duration,
        congestion: AnyCongestion,
    ) -> Connection {
        options.validate().expect("the options are valid");
        let window = AnyWindow::Fixed(FixedWindow::new(options.receive_window));
        Connection {
            transfer,
            sender: Sender::new(SenderConfig {
                flow: FLOW,
                options: options.clone().into(),
                congestion,
                transfer,
                start: Time::ZERO,
                stop: Time::NEVER,
            }),
            receiver: Receiver::new(FLOW, options, window),
            harness: TestHarness::default(),
            channel: BTreeMap::new(),
            one_way,
            treatments: Vec::new(),
            packets: 0,
            now: Time::ZERO,
            sent: 0,
            arrived: SegmentOrder::default(),
            contiguous_before: 0,
            highest_code: 0,
            marked: 0,
            allowed: if options.handshake { 0 } else { options.receive_window },
            advertised: 0,
            options: options.clone(),
        }
    }

    /// Sets the treatments of the first packets in order of sending. The others are delivered.
    pub(crate) fn with_treatments(mut self, treatments: Vec<PacketTreatment>) -> Connection {
        self.treatments = treatments;
        self
    }

    /// Runs until no event is left or until `until`. Returns true if the run ended within `steps`
    /// steps.
    pub(crate) fn run(&mut self, until: Time, steps: usize) -> bool {
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

    pub(crate) fn step(&mut self, deliver: bool) {
        if deliver {
            let ((_, _), (to, packet)) = self.channel.pop_first().expect("a packet is due");
            match to {
                To::Sender => {
                    self.allowed = self.allowed.max(packet.seq + u64::from(packet.window));
                    self.sender.receive(Port(0), &packet, &mut self.harness.at(self.now));
                    self.take_segments();
                }
                To::Receiver => {
                    self.contiguous_before = self.arrived.contiguous();
                    self.highest_code = self.highest_code.max(packet.ecn.bits());
                    if !packet.flags.contains(Flags::SYN) {
                        self.arrived.add(packet.seq, packet.end());
                        let is_marked = packet.ecn == Ecn::Ce;
                        self.marked += if is_marked { packet.payload_bytes() } else { 0 };
                    }
                    self.receiver.receive(Port(0), &packet, &mut self.harness.at(self.now));
                    self.take_acks();
                }
            }
        } else if self.sender.next_wakeup() <= self.now {
            self.sender.wake(&mut self.harness.at(self.now));
            self.take_segments();
        } else {
            self.receiver.wake(&mut self.harness.at(self.now));
            self.take_acks();
        }
    }

    pub(crate) fn take_segments(&mut self) {
        for (_, segment) in self.harness.sent() {
            if !segment.flags.contains(Flags::SYN) {
                let length = segment.payload_bytes();
                assert!(length >= 1 && length <= u64::from(self.options.mss));
                assert!(segment.end() <= self.allowed, "beyond the receiver's window");
                assert!(segment.end() <= self.transfer.unwrap_or(u64::MAX), "beyond the end");
                let retransmission = segment.flags.contains(Flags::RETRANSMITTED);
                assert_eq!(retransmission, segment.seq < self.sent, "a gap, or a wrong mark");
                self.check_ecn(&segment, retransmission);
                self.sent = self.sent.max(segment.end());
            }
            assert_eq!(u64::from(segment.size), segment.payload_bytes() + self.header());
            self.launch(To::Receiver, segment);
        }
    }

    pub(crate) fn take_acks(&mut self) {
        let mut acks = self.harness.sent();
        if acks.len() == 2 {
            // RFC 8257 §3.2: first an ACK of the unacknowledged segments, with the echo that
            // belongs to them.
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
            self.check_code(&ack);
            self.advertised = edge;
            self.launch(To::Sender, ack);
        }
    }

    /// RFC 3168 §6.1.5: retransmissions are not ECN-capable, except in ns-2, and do not carry CWR.
    /// With accurate feedback every segment is ECN-capable, and none carries CWR. Segments of a VCP
    /// connection have the code for low load.
    pub(crate) fn check_ecn(&self, segment: &Packet, retransmission: bool) {
        if self.options.ecn == EcnUse::Accurate {
            assert!(segment.ecn.is_capable() && !segment.flags.contains(Flags::CWR));
            return;
        }
        let is_ns2 = self.options.stack == StackVariant::Ns2;
        let capable = self.options.ecn.is_negotiated() && (is_ns2 || !retransmission);
        assert_eq!(
            segment.ecn,
            match self.options.ecn {
                EcnUse::Vcp => Ecn::Ect1,
                _ if capable => Ecn::Ect0,
                _ => Ecn::NotEct,
            }
        );
        assert!(capable && !retransmission || !segment.flags.contains(Flags::CWR));
        assert!(!segment.flags.contains(Flags::ECE));
    }

    /// On a VCP connection an ACK echoes the highest code since the last ACK, with accurate feedback
    /// the number of marked bytes. On other connections it echoes no code.
    fn check_code(&mut self, ack: &Packet) {
        let code = std::mem::take(&mut self.highest_code);
        let expected = match self.options.ecn {
            EcnUse::Vcp => u64::from(code),
            EcnUse::Accurate => self.marked % (1 << 24),
            EcnUse::Off | EcnUse::On | EcnUse::Dctcp => 0,
        };
        assert_eq!(ack.feedback as u64, expected);
        assert!(self.options.ecn != EcnUse::Vcp || !ack.flags.contains(Flags::ECE));
    }

    pub(crate) fn header(&self) -> u64 {
        if self.options.timestamps { 52 } else { 40 }
    }

    /// Checks that there are at most three disjoint blocks (RFC 2018 §3), that each block covers
    /// the complete range that has arrived, and that as many blocks as possible are reported (§4).
    pub(crate) fn check_blocks(&self, ack: &Packet) {
        let blocks = ack.sack();
        let option = if blocks.is_empty() { 0 } else { 4 + 8 * blocks.len() as u64 };
        assert_eq!(u64::from(ack.size), self.header() + option);
        let beyond = self.arrived.0.range(ack.seq + 1..).count();
        let uses_sack = matches!(self.options.recovery, RecoveryKind::Sack | RecoveryKind::Prr);
        let duplicates = usize::from(self.options.dsack && self.is_duplicate(blocks, ack.seq));
        assert_eq!(blocks.len(), if uses_sack { (duplicates + beyond).min(3) } else { 0 });
        let blocks = &blocks[duplicates..];
        for (i, block) in blocks.iter().enumerate() {
            let start = ack.seq + u64::from(block.offset);
            assert_eq!(self.arrived.0.get(&start), Some(&(start + u64::from(block.length))));
            assert!(!blocks[..i].contains(block), "a block twice");
        }
    }

    /// Returns true if the first block reports a duplicate (RFC 2883 §4): it is below `next` or
    /// within the second block. Checks that these bytes have arrived.
    fn is_duplicate(&self, blocks: &[SackBlock], next: u64) -> bool {
        let Some(first) = blocks.first() else { return false };
        let start = next.saturating_add_signed(i64::from(first.offset as i32));
        let end = start + u64::from(first.length);
        let island = self.arrived.0.range(..=start).next_back();
        assert!(island.is_some_and(|(_, &until)| end <= until), "a block of missing data");
        start < next || island != Some((&start, &end)) || blocks.get(1) == Some(first)
    }

    pub(crate) fn launch(&mut self, to: To, mut packet: Packet) {
        let event =
            self.treatments.get(self.packets as usize).copied().unwrap_or(PacketTreatment::Deliver);
        let due = self.now + self.one_way;
        let late = |millis| due + Duration::from_millis(millis);
        self.packets += 1;
        if matches!(event, PacketTreatment::Mark) && packet.ecn.is_capable() {
            packet.ecn = Ecn::Ce;
        }
        let copies = match event {
            PacketTreatment::Deliver | PacketTreatment::Mark => vec![due],
            PacketTreatment::Lose => vec![],
            PacketTreatment::Repeat(millis) => vec![due, late(millis)],
            PacketTreatment::Delay(millis) => vec![late(millis)],
        };
        for time in copies {
            // Copies of one packet with the same arrival time are merged, which has no effect.
            self.channel.insert((time, self.packets), (to, packet));
        }
    }

    pub(crate) fn check(&self) {
        let contiguous = self.arrived.contiguous();
        let report = self.receiver.report();
        assert_eq!(report.stream_bytes, contiguous, "a byte lost, or delivered early");
        assert_eq!(report.delivered_bytes, contiguous, "a byte delivered twice");
        assert!(self.sender.cwnd() >= u64::from(self.options.mss));
        let ssthresh = self.sender.ssthresh();
        // With accurate feedback, marks reduce Prague's window to fractions of a segment.
        let has_minimum = self.options.ecn != EcnUse::Accurate;
        let least = if has_minimum { 2 * u64::from(self.options.mss) } else { 0 };
        assert!(ssthresh >= least, "ssthresh of {ssthresh} B");
        assert!(self.sender.next_wakeup() >= self.now);
        assert!(self.receiver.next_wakeup() >= self.now);
        let waits = self.sender.bytes_in_flight() > 0;
        assert!(!waits || !self.sender.next_wakeup().is_never(), "no timer for what is in flight");
    }
}

pub(crate) fn flag<T: Clone + std::fmt::Debug + 'static>(
    values: [T; 2],
) -> impl Strategy<Value = T> {
    prop::sample::select(values.to_vec())
}

/// Returns DCTCP if its echo is used, VCP if its code is used, otherwise Reno.
pub(crate) fn cc(options: &TcpConfig) -> AnyCongestion {
    let setup = CongestionSetup { options: options.clone().into() };
    match options.ecn {
        EcnUse::Dctcp => {
            let config =
                DctcpConfig { g: 0.0625, initial_alpha: 1.0, hystart: HystartKind::PlusPlus };
            AnyCongestion::Dctcp(Box::new(Dctcp::new(config, &setup)))
        }
        EcnUse::Vcp => {
            let config = VcpConfig {
                kappa: 0.25,
                alpha: 1.0,
                beta: 0.875,
                interval_ns: 200_000_000,
                scaling: AiScaling::PublicCode,
                limiters: options.handshake,
                freeze: if options.timestamps { Freeze::Unconditional } else { Freeze::PublicCode },
                granularity_ns: options.rto_granularity.as_nanos(),
                on_loss: if options.limited_transmit { OnLoss::Ignore } else { OnLoss::Reno },
            };
            AnyCongestion::Vcp(Box::new(Vcp::new(config, &setup)))
        }
        _ => AnyCongestion::Reno(Reno::new(&setup)),
    }
}

/// Strategy for all options, with windows of some segments and timers of some round trips.
pub(crate) fn options() -> impl Strategy<Value = TcpConfig> {
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
        prop::sample::select(vec![EcnUse::Off, EcnUse::On, EcnUse::Dctcp, EcnUse::Vcp]),
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
        TcpConfig {
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
            stack: match recovery {
                RecoveryKind::Reno | RecoveryKind::NewReno if on[0] => StackVariant::Ns2,
                _ => StackVariant::Rfc,
            },
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
            ..TcpConfig::rfc()
        }
    })
}

/// Strategy for losses, duplicates and delays of up to 150 packets, data and ACKs.
pub(crate) fn treatments() -> impl Strategy<Value = Vec<PacketTreatment>> {
    let event = prop_oneof![
        6 => Just(PacketTreatment::Deliver),
        2 => Just(PacketTreatment::Lose),
        2 => Just(PacketTreatment::Mark),
        1 => (0u64..400).prop_map(PacketTreatment::Repeat),
        1 => (1u64..400).prop_map(PacketTreatment::Delay),
    ];
    prop::collection::vec(event, 0..150)
}

/// Runs a transfer of `tenths` tenths of a segment. Checks the invariants at every step (see
/// [`Connection::check`]), that the transfer ends, and that every byte arrives once.
pub(crate) fn every_byte_arrives_once(
    options: &TcpConfig,
    treatments: Vec<PacketTreatment>,
    tenths: u64,
    one_way_ms: u64,
) -> Result<(), TestCaseError> {
    every_byte_arrives_once_with(cc(options), options, treatments, tenths, one_way_ms)
}

/// Does the same with the algorithm `congestion`.
pub(crate) fn every_byte_arrives_once_with(
    congestion: AnyCongestion,
    options: &TcpConfig,
    treatments: Vec<PacketTreatment>,
    tenths: u64,
    one_way_ms: u64,
) -> Result<(), TestCaseError> {
    let transfer = (u64::from(options.mss) * tenths / 10).max(1);
    let one_way = Duration::from_millis(one_way_ms);
    let mut connection = Connection::with_control(options, Some(transfer), one_way, congestion)
        .with_treatments(treatments);
    prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
    prop_assert!(connection.sender.report().completed_at.is_some());
    prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
    prop_assert_eq!(connection.sent, transfer);
    Ok(())
}
