//! Executes a complete run, from its description to its result files.

use crate::capture::Capture;
use crate::description::{Description, Traffic};
use crate::devices::{monotonic_ns, realtime_ns, thread_cpu_ns};
use crate::driver::{Driver, EmulationError};
use crate::endpoints::{EndpointFlow, Endpoints, EndpointsReport, Plan};
use crate::events::{Event, Events};
use crate::flow_table::{FlowTable, port_of};
use crate::host::{Host, Signals, devices};
use crate::idle::keep_awake;
use crate::launcher::Launcher;
use crate::namespaces::Sides;
use crate::packet_io::{Ending, Side};
use crate::prepare::Prepared;
use crate::report::{
    ConnectionRow, KernelReport, RunReport, group_delays, median_and_p99, of_meter,
};
use crate::results::Results;
use crate::sys;
use crate::validity::{ValidityReport, base_rtt};
use airpath_core::{Duration, Series};
use airpath_path::{Components, Direction, FlowReport, PacketTime, ReplicationReport, Scenario};
use nix::sys::mman::{MlockAllFlags, mlockall};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

/// Time between the last preparation and time zero, ns.
const LEAD_NS: u64 = 100_000_000;
/// Priority of the data thread in the real-time class. It is low, but above the priority of the
/// thread that serves the sockets.
const PRIORITY: u8 = 10;
/// Grace period of the commands at the end.
const GRACE: Duration = Duration::from_secs(1);

/// Name of the failed operation, and a message of one sentence: see [`Event::Failed`].
pub(crate) type Failure = (&'static str, String);

fn wrong<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Failure {
    move |error| (what, error.to_string())
}

/// File descriptors that a run reads and writes. A run does not use file names.
#[derive(Debug)]
pub struct Channels {
    /// Result file; its last section is the report.
    pub results: File,
    /// Capture files for the devices of server and client; `None` for no capture.
    pub captures: Option<[File; 2]>,
    /// Input whose other end the parent process holds open, so that it ends when the parent process
    /// exits. `None` if the parent process is not monitored.
    pub input: Option<OwnedFd>,
}

/// Runs `description`, writes its results, and reports progress to `events`. The scenario may use
/// the plug-ins in `components`. The process must have one thread.
///
/// # Errors
/// Fails if the run cannot start or is aborted by an error.
pub fn run(
    description: &Description,
    components: &Components,
    events: &mut Events,
    channels: Channels,
) -> Result<(), Failure> {
    let Channels { results, captures, input } = channels;
    let prepared = Prepared::new(description, components).map_err(wrong("scenario"))?;
    // The first user's address is the default source address, so the user of the client's command
    // is placed first.
    let mut addressed = prepared.users.clone();
    let default = prepared.default.min(addressed.len().saturating_sub(1));
    if !addressed.is_empty() {
        addressed.swap(0, default);
    }
    let sides =
        Sides::open(description, &addressed).map_err(|error| (error.what, error.message))?;
    let launcher = match &description.traffic {
        Traffic::Flows { .. } => None,
        traffic @ Traffic::Commands { .. } => {
            let forked = Launcher::fork(&sides, traffic, description.keep_privileges);
            Some(forked.map_err(|error| (error.what, error.message))?)
        }
    };
    let signals = Signals::take().map_err(wrong("system"))?;
    let mut host = Host::new(&sides, signals, input, events, description.progress_ms);
    host.launcher = launcher;
    if let Some(refused) = sides.no_tun() {
        host.problems.push(format!("packets pass pairs of veth devices: {}", refused.reason));
    }
    let clients: Vec<Ipv4Addr> =
        prepared.users.iter().map(|user| sides.client_address(*user)).collect();
    // Creating the sockets of many flows takes time, so time zero is set after it.
    let mut endpoints = match &description.traffic {
        Traffic::Flows { .. } => Some(endpoints(description, &prepared, &sides)?),
        Traffic::Commands { .. } => None,
    };
    // With commands, time zero is not delayed: packets that a command sends before time zero would
    // have to wait, and this time would count as lateness.
    let lead_ns = if endpoints.is_some() { LEAD_NS } else { 0 };
    let zero_ns = monotonic_ns() + lead_ns;
    if let Some(files) = captures {
        let zero_realtime_ns = realtime_ns() + lead_ns;
        let capture = Capture::start(files, &description.comment, zero_realtime_ns);
        host.capture = Some(capture.map_err(wrong("capture"))?);
    }
    // If this is not permitted, the validity report shows the effect.
    let _ = mlockall(MlockAllFlags::MCL_CURRENT);
    let _awake = keep_awake();
    let class = if sys::set_fifo(PRIORITY).is_ok() { "fifo" } else { "other" };
    let client_addresses = clients.iter().map(Ipv4Addr::to_string).collect();
    let server = sides.server_address().to_string();
    host.events.emit(&Event::Ready { server, clients: client_addresses, class });
    if let Some(launcher) = &mut host.launcher {
        launcher.start(Side::Server).map_err(wrong("command"))?;
        launcher.start(Side::Client).map_err(wrong("command"))?;
    }
    if let Some(endpoints) = &mut endpoints {
        endpoints.begin(zero_ns);
    }
    let packet_io = devices(&host, zero_ns).map_err(wrong("system"))?;
    let table = prepared.table(clients);
    let Prepared { scenario, network, .. } = prepared;
    let mut driver = Driver::new(packet_io, network, &scenario, table)
        .with_packets_of(description.kernel.mtu as usize);
    let ended = driver.run(&mut host);
    let (cpu_ns, ended_ns, counters) = (thread_cpu_ns(), monotonic_ns(), host.count());
    // The devices are no longer read, so later drops must not be counted.
    let device_drops = sides.device_drops();
    // The remaining work is not urgent.
    let _ = sys::set_other();
    let ending = ended.map_err(|error| match &error {
        EmulationError::Model(_) | EmulationError::Memory(_) => ("model", error.to_string()),
        EmulationError::System { .. } => ("device", error.to_string()),
    })?;
    let ending = match ending {
        Ending::Scenario if host.launcher.is_some() => Ending::Duration,
        other => other,
    };
    let of_sockets = endpoints.map(|endpoints| endpoints.finish(driver.now()));
    if let Some(mut launcher) = host.launcher.take() {
        launcher.end(GRACE);
    }
    let uncaptured = match host.capture.take() {
        // An error here does not affect the measurements.
        Some(capture) => capture.finish().unwrap_or_else(|error| {
            host.problems.push(format!("the captures are not complete: {error}"));
            0
        }),
        None => 0,
    };
    let counts = driver.counts();
    let elapsed_s = (ended_ns - host.monotonic_ns) as f64 * 1e-9;
    let cpu_s = (cpu_ns - host.cpu_ns) as f64 * 1e-9;
    let [lateness_p50_s, lateness_p99_s] = median_and_p99(driver.lateness().histogram());
    let validity = ValidityReport {
        base_rtt_s: base_rtt(&scenario).map(Duration::as_secs_lossy),
        packets: driver.lateness().histogram().count(),
        lateness_p50_s,
        lateness_p99_s,
        lateness_max_s: Some(driver.lateness().max().as_secs_lossy()),
        device_drops: device_drops.map_err(wrong("system"))?.saturating_sub(host.device_drops),
        refused_packets: counts.refused,
        ignored_packets: counts.ignored,
        unknown_packets: counts.unknown,
        uncaptured_packets: uncaptured,
        ack_ratio: driver.meters().ack_ratio(),
        class,
        cpu_share: cpu_s / elapsed_s.max(1e-9),
        cpu_per_packet_s: (counts.read > 0).then(|| cpu_s / counts.read as f64),
        sockets_late_s: of_sockets.as_ref().map_or(0.0, |found| found.lateness_max_s),
        longest_absence_s: counts.longest_absence.as_secs_lossy(),
        longest_backlog_s: counts.longest_backlog.as_secs_lossy(),
        ..ValidityReport::default()
    };
    let (status, mut problems, before) =
        (host.status, std::mem::take(&mut host.problems), std::mem::take(&mut host.counters));
    let replication = driver.report(description.replication);
    let mut results = Results::to(results);
    let report = assemble(&driver, &scenario, replication, of_sockets.as_ref());
    if let Some(found) = &of_sockets {
        problems.extend(found.problems.iter().cloned());
        results.ss(&scenario, &found.ss).map_err(wrong("results"))?;
    }
    let report = RunReport {
        validity: validity.judged(),
        kernel: kernel(&sides, &before, &counters, of_sockets.as_ref()),
        ending: ending.name(),
        problems,
        ..report
    };
    let (recorder, _) = driver.into_parts();
    let series: Vec<Series> = scenario.series().unwrap_or_default();
    results.series(&recorder, &series).map_err(wrong("results"))?;
    results.finish(&report).map_err(wrong("results"))?;
    events.emit(&Event::Finished { reason: ending.name(), status });
    Ok(())
}

/// Creates the sockets of the scenario's own TCP flows.
fn endpoints(
    description: &Description,
    prepared: &Prepared,
    sides: &Sides,
) -> Result<Endpoints, Failure> {
    let Traffic::Flows { sockets } = &description.traffic else {
        unreachable!("only flows have sockets of this process");
    };
    let Prepared { scenario, network, .. } = prepared;
    let by_flow: BTreeMap<u32, _> = sockets.iter().map(|socket| (socket.flow, socket)).collect();
    let specs: Vec<_> = scenario.flows.iter().collect();
    let mut flows = Vec::with_capacity(network.open_traffic.len());
    for traffic in &network.open_traffic {
        let flow = traffic.flow.0;
        let spec = specs[flow as usize];
        let missing = || ("scenario", format!("traffic.sockets: nothing about flow {flow}"));
        let socket = *by_flow.get(&flow).ok_or_else(missing)?;
        let sender = match spec.direction {
            Direction::Forward => Side::Server,
            Direction::Reverse => Side::Client,
        };
        flows.push(EndpointFlow {
            flow,
            sender,
            server: sides.server_address(),
            client: sides.client_address(spec.user.unwrap_or(flow) as u16),
            port: port_of(flow),
            congestion: socket.congestion.clone(),
            mss: socket.mss,
            window_clamp: socket.window_clamp,
            pacing: socket.pacing,
            start: traffic.start,
            stop: traffic.stop,
            transfer: traffic.transfer,
            on_off: traffic.on_off.clone(),
        });
    }
    let record = &scenario.record;
    let plan = Plan {
        flows,
        warmup: network.warmup,
        end: network.end,
        ss_interval: record.ss.then(|| Duration::from_nanos(record.ss_interval_ns)),
    };
    let netns = Side::BOTH.map(|side| sides.netns(side));
    Endpoints::start(plan, netns).map_err(wrong("congestion"))
}

/// Combines the reports of the path, of the meters at its ends, and of the sockets.
fn assemble<O: crate::packet_io::PacketIo>(
    driver: &Driver<O>,
    scenario: &Scenario,
    replication: ReplicationReport,
    of_sockets: Option<&EndpointsReport>,
) -> RunReport {
    let meters = driver.meters().flows();
    let measured_s = replication.measured_s.max(1e-9);
    let groups = scenario.flows.iter().map(|flow| flow.group.unwrap_or(0));
    let delays = group_delays(groups.zip(meters));
    let of_queues =
        replication.distributions.iter().filter(|one| one.quantity == PacketTime::Sojourn);
    let distributions =
        of_queues.cloned().chain(delays.distributions(&scenario.record.distributions)).collect();
    let mut replication = ReplicationReport {
        together: delays.report(),
        distributions,
        packets: meters.iter().map(|meter| meter.delivered_packets).sum::<u64>()
            + replication.packets,
        ..replication
    };
    let mut flows = std::mem::take(&mut replication.flows);
    let mut connections = Vec::new();
    if let FlowTable::Connections(table) = driver.table() {
        connections.extend(
            table.places().map(|(flow, of)| ConnectionRow::of(&of, &meters[flow.0 as usize])),
        );
        flows.clear();
    }
    for socket in of_sockets.iter().flat_map(|report| &report.flows) {
        flows.push(FlowReport {
            goodput_bps: socket.delivered_bytes as f64 * 8.0 / measured_s,
            delivered_bytes: socket.delivered_bytes,
            retransmissions: socket.retransmissions,
            timeouts: socket.timeouts,
            mean_rtt_s: socket.mean_rtt_s,
            rwnd_limited_share: socket.rwnd_limited_share,
            cwnd_limited_share: socket.cwnd_limited_share,
            start_s: socket.start_s,
            completed_at_s: socket.completed_at_s,
            ..of_meter(socket.flow, &meters[socket.flow as usize], measured_s)
        });
    }
    for (flow, ends) in flows.iter_mut().zip(&driver.network().flows) {
        flow.transfer_bytes = flow.transfer_bytes.or(ends.drawn_transfer);
    }
    flows.sort_by_key(|flow| flow.id);
    RunReport {
        replication,
        flows,
        connections,
        validity: ValidityReport::default(),
        kernel: KernelReport::default(),
        ending: Ending::Scenario.name(),
        problems: Vec::new(),
    }
}

/// Returns the settings of the kernel, and its counters since measurement started.
fn kernel(
    sides: &Sides,
    before: &crate::host::Counters,
    after: &crate::host::Counters,
    of_sockets: Option<&EndpointsReport>,
) -> KernelReport {
    let mut report = KernelReport { release: release().unwrap_or_default(), ..Default::default() };
    for side in Side::BOTH {
        let record = sides.record(side);
        report.sysctls.insert(side.name(), record.sysctls.clone());
        report.routes.insert(side.name(), record.routes.clone());
        let then = &before[side as usize];
        let since = after[side as usize].iter().map(|(name, value)| {
            let earlier = then.get(name).copied().unwrap_or(0);
            (name.clone(), *value as i64 - earlier as i64)
        });
        report.counters.insert(side.name(), since.collect());
    }
    for socket in of_sockets.iter().flat_map(|report| &report.flows) {
        report.congestion.insert(socket.flow, socket.congestion.clone());
    }
    report
}

fn release() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned())
}
