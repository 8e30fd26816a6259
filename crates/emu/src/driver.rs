//! Runs a network in real time between two devices.
//!
//! Events in the path are processed with their scheduled times, even if the thread is late. Before
//! a packet enters the path, all timers up to the time at which the packet was read are processed
//! in order. Lateness therefore does not accumulate. It is recorded for each packet that leaves the
//! path.

use crate::classify::{ParsedPacket, write_ecn};
use crate::events::Progress;
use crate::flow_table::FlowTable;
use crate::meters::Meters;
use crate::packet_io::{Ending, PacketIo, Ready, Side, Supervisor};
use crate::payloads::Payloads;
use crate::validity::Lateness;
use airpath_core::{Bus, Duration, PayloadHandle, Recorder, Stage, StageId, Time};
use airpath_path::{
    Direction, Exit, Failure, Network, ReplicationReport, RunningNetwork, Scenario, Timetable,
};
use std::io;

/// Maximum number of packets read from one device before timers are processed.
const READ_AT_ONCE: usize = 16;
/// Maximum duration of a wait. It allows the driver to detect that the thread did not run, even if
/// no event was due.
const HEARTBEAT: Duration = Duration::from_millis(10);
/// Maximum interval between two calls of [`Supervisor::attend`].
const LOOK: Duration = Duration::from_millis(100);
/// Largest IP packet, bytes.
const LARGEST_PACKET: usize = 65_535;

/// Reason for which a run failed.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// A component of the path failed.
    #[error("{} (at {} s)", .0.source, .0.at.as_secs_lossy())]
    Model(Failure),
    /// A device or a system call failed.
    #[error("{doing}: {source}")]
    System {
        /// Operation that failed.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The recordings exceed the memory budget.
    #[error("recorded series exceed the memory limit at t = {0} s")]
    Memory(f64),
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> EmulationError {
    move |source| EmulationError::System { doing, source }
}

/// Open end of a flow, where packets enter and leave the path.
#[derive(Clone, Copy, Debug)]
struct End {
    side: Side,
    is_sink: bool,
}

/// Counters of a run in addition to the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets read from the devices.
    pub read: u64,
    /// Packets that were not IPv4 or were malformed.
    pub ignored: u64,
    /// Packets that belong to no flow.
    pub unknown: u64,
    /// Packets that a device did not accept.
    pub refused: u64,
    /// Longest time from the due end of a wait to its actual end.
    pub longest_absence: Duration,
    /// Longest time for which a device continuously had packets to read. It is an upper bound of
    /// the waiting time of packets in the device.
    pub longest_backlog: Duration,
}

/// Runs a network in real time between two devices.
pub struct Driver<O> {
    packet_io: O,
    running: RunningNetwork,
    timetable: Timetable,
    table: FlowTable,
    payloads: Payloads,
    /// Buffer for the next packet that is read.
    spare: PayloadHandle,
    meters: Meters,
    lateness: Lateness,
    counts: Counts,
    /// Open ends, by stage.
    ends: Vec<Option<End>>,
    /// Stages at which packets enter, by flow and side.
    entries: Vec<[StageId; 2]>,
    warmup: Time,
    end: Time,
    exits: Vec<Exit>,
    released: Vec<PayloadHandle>,
    now: Time,
    /// Time of the latest progress report, and bytes delivered to each side up to this time, for
    /// the rates in the next report.
    reported: (Time, [u64; 2]),
    /// Number of transmissions in each regime up to the latest progress report.
    regimes: Vec<u64>,
    /// Time since which the device of a side has continuously had packets to read.
    waiting_since: [Option<Time>; 2],
}

impl<O: PacketIo> Driver<O> {
    /// Creates a driver for `network`, which was built from `scenario` with open ends for the flows
    /// of `table`.
    pub fn new(packet_io: O, network: Network, scenario: &Scenario, table: FlowTable) -> Driver<O> {
        let mut ends = vec![None; network.stages.len()];
        let mut entries = Vec::with_capacity(network.flows.len());
        for (flow, spec) in network.flows.iter().zip(scenario.flows.iter()) {
            let (source, sink) = match spec.direction {
                Direction::Forward => (Side::Server, Side::Client),
                Direction::Reverse => (Side::Client, Side::Server),
            };
            ends[flow.source.0 as usize] = Some(End { side: source, is_sink: false });
            ends[flow.sink.0 as usize] = Some(End { side: sink, is_sink: true });
            let mut entry = [flow.source; 2];
            entry[sink as usize] = flow.sink;
            entries.push(entry);
        }
        let mut payloads = Payloads::new(LARGEST_PACKET);
        let spare = payloads.take();
        let (warmup, end, flows) = (network.warmup, network.end, network.flows.len());
        Driver {
            packet_io,
            running: RunningNetwork::new(network),
            timetable: Timetable::default(),
            table,
            payloads,
            spare,
            meters: Meters::new(flows),
            lateness: Lateness::default(),
            counts: Counts::default(),
            ends,
            entries,
            warmup,
            end,
            exits: Vec::new(),
            released: Vec::new(),
            now: Time::ZERO,
            reported: (Time::ZERO, [0; 2]),
            regimes: Vec::new(),
            waiting_since: [None; 2],
        }
    }

    /// Sets the largest packet size, bytes; default 65 535.
    #[must_use]
    pub fn with_packets_of(mut self, bytes: usize) -> Driver<O> {
        self.payloads = Payloads::new(bytes);
        self.spare = self.payloads.take();
        self
    }

    /// Runs to the end of the scenario, or until `supervisor` ends the run.
    ///
    /// # Errors
    /// Fails if a component or a device fails.
    pub fn run(&mut self, supervisor: &mut impl Supervisor) -> Result<Ending, EmulationError> {
        self.timetable.begin(&mut self.running, Time::ZERO).map_err(EmulationError::Model)?;
        let mut next_look = Time::ZERO;
        let mut ready = Ready::default();
        loop {
            let now = self.packet_io.now();
            self.advance(now, supervisor)?;
            if self.now >= self.end {
                return Ok(Ending::Scenario);
            }
            if ready.attention || now >= next_look {
                next_look = now + LOOK;
                if let Some(ending) = supervisor.attend(now) {
                    return Ok(ending);
                }
                if self.running.recorder().is_full() {
                    return Err(EmulationError::Memory(now.as_secs_lossy()));
                }
            }
            if now >= supervisor.next_progress() {
                let progress = self.progress(now);
                supervisor.progress(progress);
            }
            for side in Side::BOTH {
                if ready.packets[side as usize] {
                    self.read(side, supervisor)?;
                } else {
                    self.waiting_since[side as usize] = None;
                }
            }
            ready = self.wait(supervisor)?;
        }
    }

    /// Waits for the next event.
    fn wait(&mut self, supervisor: &impl Supervisor) -> Result<Ready, EmulationError> {
        let now = self.packet_io.now();
        let due = self.next_due().min(supervisor.next_progress()).min(now + HEARTBEAT);
        if due <= now {
            // An event is already due: only poll the devices, without waiting.
            return self.packet_io.wait(now).map_err(system("waiting"));
        }
        let ready = self.packet_io.wait(due).map_err(system("waiting"))?;
        let absence = self.packet_io.now().saturating_since(due);
        self.counts.longest_absence = self.counts.longest_absence.max(absence);
        Ok(ready)
    }

    /// Returns the time of the next event in the path.
    fn next_due(&mut self) -> Time {
        let stage = self.running.first().map_or(Time::NEVER, |(due, _)| due);
        stage.min(self.next_of_timetable()).min(self.end)
    }

    fn next_of_timetable(&self) -> Time {
        let next = self.timetable.next(self.running.network());
        if self.timetable.is_measuring() { next } else { next.min(self.warmup) }
    }

    /// Processes all events up to `until`, in order, and writes the packets that leave. At one
    /// instant, control events precede timers, and timers precede packets from the devices.
    fn advance(
        &mut self,
        until: Time,
        supervisor: &mut impl Supervisor,
    ) -> Result<(), EmulationError> {
        let until = until.min(self.end);
        loop {
            let scheduled = self.next_of_timetable();
            let first = self.running.first();
            let due = first.map_or(Time::NEVER, |(due, _)| due);
            if scheduled.min(due) > until || scheduled.min(due) >= self.end {
                self.now = self.now.max(until);
                return Ok(());
            }
            if scheduled <= due {
                self.now = scheduled;
                self.advance_timetable(scheduled, supervisor)?;
            } else if let Some((due, stage)) = first {
                self.now = due;
                self.running.wake(stage, due).map_err(EmulationError::Model)?;
            }
            self.flush(supervisor)?;
        }
    }

    /// Sends the control events of the timetable that are due at `now`.
    fn advance_timetable(
        &mut self,
        now: Time,
        supervisor: &mut impl Supervisor,
    ) -> Result<(), EmulationError> {
        if !self.timetable.is_measuring() && self.warmup <= now {
            self.timetable
                .start_measurement(&mut self.running, now)
                .map_err(EmulationError::Model)?;
            self.meters.restart(now);
            self.lateness = Lateness::default();
            self.counts = Counts::default();
            supervisor.measurement_starts(now);
            return Ok(());
        }
        self.timetable.apply(&mut self.running, now).map_err(EmulationError::Model)
    }

    /// Writes the packets that have left the path, and frees the bytes of dropped packets.
    #[inline]
    fn flush(&mut self, supervisor: &mut impl Supervisor) -> Result<(), EmulationError> {
        self.running.take_exits(&mut self.exits);
        for place in 0..self.exits.len() {
            let exit = self.exits[place];
            self.leave(&exit, supervisor)?;
        }
        self.running.take_released(&mut self.released);
        while let Some(handle) = self.released.pop() {
            self.payloads.release(handle);
        }
        Ok(())
    }

    fn leave(
        &mut self,
        exit: &Exit,
        supervisor: &mut impl Supervisor,
    ) -> Result<(), EmulationError> {
        let Exit { at: due, end, packet } = *exit;
        let End { side, is_sink } = self.ends[end.0 as usize].expect("packets leave at open ends");
        let handle = packet.payload();
        let bytes = self.payloads.bytes(handle);
        write_ecn(bytes, packet.ecn);
        let at = self.packet_io.now();
        if self.packet_io.write(side, bytes).map_err(system("writing to a device"))? {
            self.meters.leaves(&packet, side, is_sink, due);
            self.lateness.add(at.saturating_since(due));
            supervisor.passes(at, side, false, bytes);
        } else {
            self.counts.refused += 1;
        }
        self.payloads.release(handle);
        Ok(())
    }

    /// Reads the packets that wait at the device of `side`, and puts them into the path.
    fn read(&mut self, side: Side, supervisor: &mut impl Supervisor) -> Result<(), EmulationError> {
        for _ in 0..READ_AT_ONCE {
            let slot = self.payloads.slot_mut(self.spare);
            let length =
                self.packet_io.read(side, slot).map_err(system("reading from a device"))?;
            let Some(length) = length else {
                self.waiting_since[side as usize] = None;
                return Ok(());
            };
            let now = self.packet_io.now();
            let since = *self.waiting_since[side as usize].get_or_insert(now);
            let backlog = now.saturating_since(since);
            self.counts.longest_backlog = self.counts.longest_backlog.max(backlog);
            if now >= self.end {
                return Ok(());
            }
            self.payloads.set_length(self.spare, length);
            self.advance(now, supervisor)?;
            self.enter(side, now, supervisor)?;
        }
        Ok(())
    }

    /// Puts the packet that was read last into the path.
    fn enter(
        &mut self,
        side: Side,
        now: Time,
        supervisor: &mut impl Supervisor,
    ) -> Result<(), EmulationError> {
        self.counts.read += 1;
        let bytes = self.payloads.bytes(self.spare);
        let Some(seen) = ParsedPacket::of(bytes) else {
            self.counts.ignored += 1;
            return Ok(());
        };
        let Some(flow) = self.table.flow(&seen.ends, side, now) else {
            self.counts.unknown += 1;
            return Ok(());
        };
        supervisor.passes(now, side, true, bytes);
        let entry = self.entries[flow.0 as usize][side as usize];
        let end = self.ends[entry.0 as usize].expect("packets enter at open ends");
        let mut packet = seen.packet(flow, now);
        packet.set_payload(std::mem::replace(&mut self.spare, self.payloads.take()));
        self.meters.enters(&packet, !end.is_sink);
        self.now = now;
        self.running.put_in(entry, packet, now).map_err(EmulationError::Model)?;
        self.flush(supervisor)
    }

    /// Returns the progress of the run at `now`.
    fn progress(&mut self, now: Time) -> Progress {
        let (before, bytes) = std::mem::replace(&mut self.reported, (now, self.meters.bytes));
        let span_s = now.saturating_since(before).as_secs_lossy().max(1e-9);
        let rate = |side: Side| {
            (self.meters.bytes[side as usize] - bytes[side as usize]) as f64 * 8.0 / span_s
        };
        let (rate_bps, reverse_rate_bps) = (rate(Side::Client), rate(Side::Server));
        let network = self.running.network();
        let stage = network.bottleneck().map(|(stage, _)| &network.stages[stage.0 as usize]);
        let reports = stage.map_or_else(Vec::new, |stage| stage.link_reports(now));
        let regimes = reports.first().map(|side| side.link.regime_packets.clone());
        let regimes = regimes.unwrap_or_default();
        let used =
            |place: &usize| regimes[*place].saturating_sub(*self.regimes.get(*place).unwrap_or(&0));
        let regime = (0..regimes.len())
            .filter(|_| regimes.len() > 1)
            .max_by_key(used)
            .filter(|place| used(place) > 0);
        let (mut drops, mut marks) = (0, 0);
        for place in &network.links {
            let counts = self.running.bus().counts(place.stage);
            (drops, marks) = (drops + counts.total(), marks + counts.marked);
        }
        let forward = network.hops.iter().filter_map(|hop| hop.forward);
        let queue_packets =
            forward.map(|(stage, _)| network.stages[stage.0 as usize].held()).sum::<usize>();
        self.regimes = regimes;
        Progress {
            at_s: now.as_secs_lossy(),
            until_s: (!self.end.is_never()).then(|| self.end.as_secs_lossy()),
            rate_bps,
            reverse_rate_bps,
            queue_packets,
            regime,
            drops,
            marks,
            lateness_p99_s: self.lateness.histogram().quantile_s(0.99),
            lateness_max_s: self.lateness.max().as_secs_lossy(),
        }
    }

    /// Returns the time up to which the path has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of packets in flight.
    pub fn in_flight(&self) -> usize {
        self.payloads.in_use() - 1
    }

    /// Returns the lateness of packets since measurement started.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Returns the counters since measurement started.
    pub fn counts(&self) -> Counts {
        let crowded = self.table.crowded();
        Counts { unknown: self.counts.unknown + crowded, ..self.counts }
    }

    /// Returns the meters at the ends of the flows.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Returns the table that assigns packets to flows.
    pub fn table(&self) -> &FlowTable {
        &self.table
    }

    /// Returns the bus.
    pub fn bus(&self) -> &Bus {
        self.running.bus()
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        self.running.network()
    }

    /// Returns the measurements of the path up to the current time.
    pub fn report(&self, replication: u64) -> ReplicationReport {
        let (network, bus) = (self.running.network(), self.running.bus());
        let report = self.timetable.report(network, bus, replication, self.now);
        ReplicationReport { events: self.running.events(), ..report }
    }

    /// Completes the recording. Returns the recorder and the I/O.
    pub fn into_parts(mut self) -> (Recorder, O) {
        self.running.recorder().finish();
        (self.running.into_recorder(), self.packet_io)
    }
}
