//! The thread that serves all sockets. It handles ready sockets and due events.

use super::clock::Clock;
use super::flow::Flow;
use super::sockets::{self, NamespaceSwitcher};
use super::{EndpointError, EndpointsReport, Plan};
use crate::packet_io::Side;
use crate::sys;
use airpath_core::{Duration, Time};
use airpath_tcp::SsSample;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::SigSet;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, SyncSender};

/// Real-time priority of the thread, below that of the data thread. Without it, a receiver on a
/// busy machine could send few and late ACKs, which changes the behaviour of TCP.
const PRIORITY: u8 = 5;
/// Size of the read buffer, bytes.
const READ_BYTES: usize = 1024 * 1024;
/// Maximum number of events per `epoll` call.
const EVENTS: usize = 256;
/// Minimum interval between two polls of all flows, and minimum interval per polled flow.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_EACH: Duration = Duration::from_nanos(100_000);
/// Minimum time without a SYN-ACK that is reported as a problem: the timeout of the first SYN.
const LONG: Duration = Duration::from_secs(1);
/// Number of descriptors that are reserved for purposes other than the sockets of flows.
const OTHER_DESCRIPTORS: u64 = 256;
/// Maximum number of flows that a problem report lists by number.
const NAMED: usize = 5;

/// Events of a sender's socket, edge-triggered.
const SENDER_EVENTS: EpollFlags =
    EpollFlags::EPOLLOUT.union(EpollFlags::EPOLLRDHUP).union(EpollFlags::EPOLLET);

/// Scheduled events. Events at the same time are processed in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Sample of the senders' state.
    Sample,
    /// Start of measurement.
    Warmup,
    /// Start of a flow.
    Start(usize),
    /// Event of an application.
    Turn(usize),
    /// Poll of all flows.
    Look,
    /// End of the run.
    End,
}

/// Source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventSource {
    Timer,
    Stop,
    Listener(usize),
    Receiver(usize),
    Sender(usize),
}

impl EventSource {
    fn data(self) -> u64 {
        let of = |flow: usize, kind| (flow as u64 + 1) << 2 | kind;
        match self {
            EventSource::Timer => 0,
            EventSource::Stop => 1,
            EventSource::Listener(flow) => of(flow, 0),
            EventSource::Receiver(flow) => of(flow, 1),
            EventSource::Sender(flow) => of(flow, 2),
        }
    }

    fn from_data(data: u64) -> EventSource {
        let flow = (data >> 2) as usize;
        match (flow.checked_sub(1), data & 3) {
            (None, 0) => EventSource::Timer,
            (None, _) => EventSource::Stop,
            (Some(flow), 0) => EventSource::Listener(flow),
            (Some(flow), 1) => EventSource::Receiver(flow),
            (Some(flow), _) => EventSource::Sender(flow),
        }
    }
}

/// State of the thread.
struct Server {
    clock: Clock,
    homes: NamespaceSwitcher,
    epoll: Epoll,
    timer: TimerFd,
    /// Expiry of the timer.
    set_to: Time,
    agenda: BinaryHeap<Reverse<(Time, Due)>>,
    flows: Vec<Flow>,
    warmup: Time,
    end: Time,
    ss_interval: Option<Duration>,
    /// Start time of measurement.
    measured_from: Option<Time>,
    samples: Vec<SsSample>,
    /// Largest lateness of an event.
    latest: Duration,
    /// Maps each problem to the affected flows.
    problems: BTreeMap<String, Vec<u32>>,
    buffer: Vec<u8>,
}

/// Runs the thread: sends the result of the setup to `ready`, receives time zero, and serves the
/// sockets until the end of the plan or until `stop` is readable.
pub(super) fn run(
    plan: Plan,
    netns: [OwnedFd; 2],
    stop: &EventFd,
    ready: &SyncSender<Result<(), EndpointError>>,
    zero: &Receiver<u64>,
) -> EndpointsReport {
    // Another thread handles signals.
    let blocked = SigSet::all().thread_block().map_err(system("signals"));
    let server = blocked.and_then(|()| Server::new(plan, netns, stop));
    match server {
        Ok(mut server) => {
            // A closed channel means that the caller has requested the stop.
            let _ = ready.send(Ok(()));
            let Ok(zero_ns) = zero.recv() else { return EndpointsReport::default() };
            server.clock = Clock::new(zero_ns);
            // If this is not permitted, the ACK ratio in the validity report shows the effect.
            let _ = sys::set_fifo(PRIORITY);
            server.serve();
            server.report()
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            EndpointsReport::default()
        }
    }
}

fn system<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> EndpointError {
    move |error| EndpointError::System { what, source: error.into() }
}

impl Server {
    fn new(plan: Plan, netns: [OwnedFd; 2], stop: &EventFd) -> Result<Server, EndpointError> {
        let mut homes = NamespaceSwitcher::new(netns);
        check_congestion(&plan, &mut homes)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(system("epoll"))?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(system("timerfd"))?;
        let Plan { flows, warmup, end, ss_interval } = plan;
        let mut agenda = BinaryHeap::from([
            Reverse((warmup, Due::Warmup)),
            Reverse((Time::ZERO + LOOK, Due::Look)),
            Reverse((end, Due::End)),
        ]);
        agenda.extend(ss_interval.map(|interval| Reverse((Time::ZERO + interval, Due::Sample))));
        let starts = flows.iter().enumerate().filter(|(_, flow)| flow.start < end);
        agenda.extend(starts.map(|(place, flow)| Reverse((flow.start, Due::Start(place)))));
        let mut server = Server {
            // This value is replaced when time zero is received.
            clock: Clock::new(0),
            homes,
            epoll,
            timer,
            set_to: Time::NEVER,
            agenda,
            flows: flows.into_iter().map(|flow| Flow::new(flow, end)).collect(),
            warmup,
            end,
            ss_interval,
            measured_from: None,
            samples: Vec::new(),
            latest: Duration::ZERO,
            problems: BTreeMap::new(),
            buffer: vec![0; READ_BYTES],
        };
        server
            .add(&server.timer, EventSource::Timer, EpollFlags::EPOLLIN)
            .map_err(system("epoll"))?;
        server.add(stop, EventSource::Stop, EpollFlags::EPOLLIN).map_err(system("epoll"))?;
        server.listen_all()?;
        Ok(server)
    }

    fn add(&self, fd: impl AsFd, about: EventSource, events: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(fd, EpollEvent::new(events, about.data()))?)
    }

    /// Opens the listening sockets of the first flows, as far as descriptors are available (three
    /// per flow). The listening sockets of the other flows are opened when the flows start.
    fn listen_all(&mut self) -> Result<(), EndpointError> {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).map_err(system("RLIMIT_NOFILE"))?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most).map_err(system("RLIMIT_NOFILE"))?;
        let at_once = most.saturating_sub(OTHER_DESCRIPTORS) / 3;
        for place in 0..self.flows.len().min(usize::try_from(at_once).unwrap_or(usize::MAX)) {
            let side = self.flows[place].spec.sender.other();
            let entered = self.homes.enter(side);
            entered.map_err(|source| EndpointError::Namespace { side, source })?;
            self.listen(place).map_err(|source| {
                let spec = &self.flows[place].spec;
                let (flow, address, port) = (spec.flow, spec.address(side), spec.port);
                EndpointError::Listen { flow, side, address, port, source }
            })?;
        }
        Ok(())
    }

    fn listen(&mut self, place: usize) -> io::Result<()> {
        let listener = sockets::listener(&self.flows[place].spec)?;
        self.add(&listener, EventSource::Listener(place), EpollFlags::EPOLLIN)?;
        self.flows[place].listener = Some(listener);
        Ok(())
    }

    fn add_problem(&mut self, place: usize, problem: String) {
        self.problems.entry(problem).or_default().push(self.flows[place].spec.flow);
    }

    /// Handles the result of an operation on a flow.
    fn settle(&mut self, place: usize, done: io::Result<()>) {
        if let Err(error) = done
            && self.flows[place].fail()
        {
            self.add_problem(place, error.to_string());
        }
    }

    /// Re-arms the event of a sender after a write, if its socket would otherwise signal no event.
    fn wrote(&mut self, place: usize, wrote: io::Result<bool>) {
        let waited = match (wrote, &self.flows[place].sender) {
            (Ok(true), Some(sender)) => {
                let mut event = EpollEvent::new(SENDER_EVENTS, EventSource::Sender(place).data());
                self.epoll.modify(sender, &mut event).map_err(io::Error::from)
            }
            (wrote, _) => wrote.map(drop),
        };
        self.settle(place, waited);
    }

    /// Serves the sockets until the end, or until the stop is requested.
    fn serve(&mut self) {
        let mut events = [EpollEvent::empty(); EVENTS];
        loop {
            let waited = self.set_timer().and_then(|()| {
                match self.epoll.wait(&mut events, EpollTimeout::NONE) {
                    Err(Errno::EINTR) => Ok(0),
                    waited => waited,
                }
            });
            let Ok(ready) = waited else {
                self.problems.insert("the thread of the sockets cannot wait".to_owned(), vec![]);
                return;
            };
            if self.is_over() {
                return;
            }
            for event in &events[..ready] {
                match EventSource::from_data(event.data()) {
                    // The timer may have been set again in the meantime.
                    EventSource::Timer => drop(self.timer.wait()),
                    EventSource::Stop => return,
                    EventSource::Listener(place) => self.accept(place),
                    EventSource::Receiver(place) => self.read(place),
                    EventSource::Sender(place) => self.advance(place),
                }
            }
        }
    }

    fn set_timer(&mut self) -> nix::Result<()> {
        let next = self.agenda.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        if next == self.set_to {
            return Ok(());
        }
        self.set_to = next;
        let at = Expiration::OneShot(self.clock.monotonic(next));
        self.timer.set(at, TimerSetTimeFlags::TFD_TIMER_ABSTIME)
    }

    /// Processes due events. Returns true if the run is over.
    fn is_over(&mut self) -> bool {
        let Some(now) = self.clock.now() else { return false };
        while let Some(Reverse((at, due))) = self.agenda.peek().copied().filter(|of| of.0.0 <= now)
        {
            self.agenda.pop();
            let late = self.clock.now().unwrap_or(now).saturating_since(at);
            self.latest = self.latest.max(late);
            match due {
                Due::Sample => self.sample(at, now),
                Due::Warmup => {
                    let buffer = &mut self.buffer;
                    self.flows.iter_mut().for_each(|flow| flow.start_measurement(buffer));
                    self.measured_from = Some(now);
                }
                Due::Start(place) => self.start(place, at),
                Due::Turn(place) => self.take_turn(place, at, now),
                Due::Look => self.look(now),
                Due::End => return true,
            }
        }
        false
    }

    /// Starts a flow.
    fn start(&mut self, place: usize, at: Time) {
        let started = self.connect(place, at);
        self.settle(place, started);
        self.follow(place);
    }

    fn connect(&mut self, place: usize, at: Time) -> io::Result<()> {
        let sender = self.flows[place].spec.sender;
        if self.flows[place].listener.is_none() {
            self.homes.enter(sender.other())?;
            self.listen(place)?;
        }
        self.homes.enter(sender)?;
        self.flows[place].start(at)?;
        match &self.flows[place].sender {
            Some(socket) => self.add(socket, EventSource::Sender(place), SENDER_EVENTS),
            None => Ok(()),
        }
    }

    /// Schedules the next event of the flow's application.
    fn follow(&mut self, place: usize) {
        let turn = self.flows[place].work.turn();
        if turn < self.end {
            self.agenda.push(Reverse((turn, Due::Turn(place))));
        }
    }

    fn take_turn(&mut self, place: usize, at: Time, now: Time) {
        // If the event was postponed, another entry exists for its new time.
        if self.flows[place].work.turn() == at {
            self.flows[place].work.take_turn();
            let written = self.flows[place].write(now);
            self.wrote(place, written);
            self.follow(place);
        }
    }

    /// Accepts the connection of a flow.
    fn accept(&mut self, place: usize) {
        let Some(listener) = &self.flows[place].listener else { return };
        let accepted = match sockets::accept(listener) {
            Ok(Some(receiver)) => {
                let added = self.add(&receiver, EventSource::Receiver(place), EpollFlags::EPOLLIN);
                let flow = &mut self.flows[place];
                (flow.receiver, flow.listener) = (Some(receiver), None);
                added
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.settle(place, accepted);
    }

    fn read(&mut self, place: usize) {
        let read = self.flows[place].read(&mut self.buffer).map(drop);
        self.settle(place, read);
    }

    fn advance(&mut self, place: usize) {
        let turn = self.flows[place].work.turn();
        let gone_on = self.flows[place].advance(self.clock);
        self.wrote(place, gone_on);
        if self.flows[place].work.turn() != turn {
            self.follow(place);
        }
    }

    fn look(&mut self, now: Time) {
        let mut open = 0;
        for place in 0..self.flows.len() {
            if self.flows[place].is_open() {
                open += 1;
                let turn = self.flows[place].work.turn();
                let watched = self.flows[place].watch(self.clock);
                self.settle(place, watched);
                if self.flows[place].work.turn() != turn {
                    self.follow(place);
                }
            }
        }
        let pause = LOOK.max(LOOK_EACH.saturating_mul(open));
        self.agenda.push(Reverse((now + pause, Due::Look)));
    }

    /// Samples the state of every sender. Skips the sample if it is late by at least one interval.
    fn sample(&mut self, at: Time, now: Time) {
        let Some(interval) = self.ss_interval else { return };
        if now < at + interval {
            self.samples.extend(self.flows.iter_mut().filter_map(|flow| flow.sample(at, now)));
        }
        self.agenda.push(Reverse((at + interval, Due::Sample)));
    }

    /// Reads the final counters, and aborts all connections.
    fn report(mut self) -> EndpointsReport {
        let now = self.clock.now().unwrap_or(Time::ZERO);
        for flow in &mut self.flows {
            flow.count(&mut self.buffer);
        }
        for place in 0..self.flows.len() {
            if self.flows[place].waits_since(LONG, now) {
                self.add_problem(
                    place,
                    "its SYN was not answered until the end of the run".to_owned(),
                );
            }
        }
        self.flows.iter_mut().for_each(Flow::abort);
        // A run that is stopped before the end of the warm-up has no measured time.
        let measured = [self.measured_from.unwrap_or(now), now];
        debug_assert!(self.measured_from.is_none() || now >= self.warmup);
        EndpointsReport {
            flows: self.flows.iter().map(|flow| flow.report(measured)).collect(),
            ss: self.samples,
            problems: self.problems.iter().map(|(what, flows)| sentence(what, flows)).collect(),
            measured_s: measured[1].saturating_since(measured[0]).as_secs_lossy(),
            lateness_max_s: self.latest.as_secs_lossy(),
        }
    }
}

/// Formats a problem: `flows 1, 2, 3, 4, 5 and 12 more: problem`.
fn sentence(what: &str, flows: &[u32]) -> String {
    if flows.is_empty() {
        return what.to_owned();
    }
    let named: Vec<String> = flows.iter().take(NAMED).map(u32::to_string).collect();
    let noun = if flows.len() == 1 { "flow" } else { "flows" };
    let more = match flows.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{noun} {}{more}: {what}", named.join(", "))
}

/// Checks that every congestion control algorithm exists and is permitted on both sides. (The
/// algorithm of the receiver determines how ECN marks are echoed.)
fn check_congestion(plan: &Plan, homes: &mut NamespaceSwitcher) -> Result<(), EndpointError> {
    let mut first = BTreeMap::new();
    for flow in plan.flows.iter().rev() {
        first.insert(flow.congestion.as_str(), flow.flow);
    }
    for side in Side::BOTH {
        homes.enter(side).map_err(|source| EndpointError::Namespace { side, source })?;
        for (name, flow) in &first {
            sockets::accepts(name).map_err(|problem| EndpointError::Congestion {
                name: (*name).to_owned(),
                flow: *flow,
                problem,
                available: available().unwrap_or_else(|_| "not known".to_owned()),
            })?;
        }
    }
    Ok(())
}

/// Returns the congestion control algorithms that the kernel has loaded.
fn available() -> io::Result<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_source_is_encoded_in_its_number() {
        let flows = [0, 1, 65_535];
        let of_flows = flows.into_iter().flat_map(|flow| {
            [EventSource::Listener(flow), EventSource::Receiver(flow), EventSource::Sender(flow)]
        });
        for about in of_flows.chain([EventSource::Timer, EventSource::Stop]) {
            assert_eq!(EventSource::from_data(about.data()), about);
        }
    }

    #[test]
    fn a_problem_of_many_flows_is_one_sentence() {
        assert_eq!(sentence("broke off", &[3]), "flow 3: broke off");
        assert_eq!(sentence("broke off", &[3, 4]), "flows 3, 4: broke off");
        let many: Vec<u32> = (0..64).collect();
        assert_eq!(sentence("broke off", &many), "flows 0, 1, 2, 3, 4 and 59 more: broke off");
    }
}
