//! TDD link with frames. Stations request uplink bandwidth from the base station.
//!
//! Source: wimax-2009 §2.1, §2.2, §4 and §5.1; IEEE 802.16e.
//!
//! A frame starts with maps and downlink bursts; the uplink follows. The base station has a
//! transmission queue and a request queue (a counter of bytes) for each station. At the start of a
//! frame the base station allocates the downlink slots of this frame to waiting packets. It
//! allocates to the requests the uplink slots of the frame to which the map refers. A burst is
//! filled with the waiting data of its station when the burst closes. The station requests
//! bandwidth for the remaining data by piggyback. Without a grant the station uses the request
//! procedure. A grant policy may add proactive grants to the request queues.
//!
//! The link has no wake-up in frames without pending work. Events with equal times are processed in
//! this order: reception of requests, reception of bursts, closing of bursts, sending of requests,
//! start of the frame.
//!
//! Not modelled: slots of HARQ retransmissions; losses of requests other than collisions; limits of
//! the space for piggyback subheaders (they are counted but always fit); the two-dimensional shape
//! of bursts.
//!
//! | file | contents |
//! | --- | --- |
//! | `settings.rs` | configuration |
//! | `clock.rs` | start times of frames, and times of events relative to the frames |
//! | `timers.rs` | stations with pending work, and the next events |
//! | `slots.rs` | slots and their capacity |
//! | `side.rs` | a direction of a station: packets and MPDUs |
//! | `station.rs` | state of a station at both ends |
//! | `frame.rs` | allocation at the start of a frame |
//! | `uplink.rs` | requests, bursts and their reception |
//! | `air_interface.rs` | transmission of MPDUs, retransmissions, delivery of packets |
//! | `radio.rs` | adaptive modulation and coding |
//! | `report.rs` | measurements |
//! | `single_station.rs` | performance of a single station, for analytic models |

mod air_interface;
mod check;
mod clock;
mod frame;
mod piggyback_requests;
mod radio;
mod report;
mod settings;
mod side;
mod single_station;
mod slots;
mod station;
#[cfg(test)]
mod tests;
mod timers;
mod uplink;

pub use clock::Clock;
pub use settings::{MapOverhead, PerDirection, PiggybackRead, StationConfig, TddConfig};
pub use single_station::SingleStation;

use crate::context::{DirectionContext, LinkContext, Users};
use crate::link::{Link, SideReport, Sides};
use crate::links::meter::Meter;
use crate::mac::agenda::{Timers, UserSet};
use crate::mac::grant::{AnyGrant, Grant, GrantContext, GrantRegistry, GrantRules};
use crate::mac::request::{
    AnyRequest, Request, RequestContext, RequestEvent, RequestRegistry, RequestRules,
};
use crate::mac::scheduler::{AnyScheduler, Candidate, Population, SchedulerRegistry};
use crate::retransmission::delay_queue::DelayQueue;
use air_interface::AirInterface;
use airpath_aqm::{AnyQueue, DropTail, DropTailConfig, Limit, Queue};
use airpath_core::{
    Bytes, Component, ConfigError, Control, Ctx, Framing, LinkRate, Packet, Port, QueueId, Rate,
    Seed, Setup, Stage, Time, UserChange, UserId,
};
use frame::{Burst, DownlinkState, FrameAllocation};
use piggyback_requests::PiggybackRequests;
use radio::Radio;
use side::{Mpdu, Segmentation, Side};
use slots::SlotSize;
use station::Station;
use std::collections::VecDeque;
use uplink::ReceivedRequest;

/// Smallest payload of a frame in a direction, bytes. A smaller payload cannot carry a fragment of
/// a packet.
const LEAST_PAYLOAD: u64 = 8;

/// The TDD link. Input and output 0 are the downlink, input and output 1 the uplink.
pub struct Tdd {
    clock: Clock,
    /// Length of a frame, s.
    frame_s: f64,
    /// Numbers of slots for data in a frame: in the downlink without the slots of the maps, and in
    /// the uplink.
    slots: [u64; 2],
    slot_symbols: u64,
    per_burst: u64,
    map_relevance: u64,
    /// Segmentation rules, by direction.
    segmentation: [Segmentation; 2],
    /// Number of directions: 2, or 1 if no flow uses the uplink.
    directions: usize,
    users: Users,
    stations: Vec<Station>,
    /// Slot sizes of each station at the nominal rate.
    sizes: Vec<[SlotSize; 2]>,
    /// Nominal rate of a station with the default MCS, by direction.
    nominal: [Rate; 2],
    ports: [Port; 2],
    schedulers: [AnyScheduler; 2],
    request: AnyRequest,
    asking: RequestRules,
    grant: AnyGrant,
    rules: GrantRules,
    air: [AirInterface; 2],
    /// Radio channels, if the MCS is adaptive.
    radio: Option<Radio>,
    /// Stations with data in the downlink.
    with_data: UserSet,
    /// Stations with a nonempty request queue.
    with_request: UserSet,
    /// Bursts that were granted by maps and have not closed, in order of their frames.
    bursts: VecDeque<Burst>,
    /// Requests in bursts and headers that are in flight.
    stated: DelayQueue<ReceivedRequest>,
    /// Piggyback requests that are read together with their MPDUs.
    piggyback_requests: PiggybackRequests,
    piggyback_read: PiggybackRead,
    /// Fallback timers of stations without a grant.
    fallbacks: Timers,
    queue_timers: [Timers; 2],
    /// Number of the next frame that may start.
    next_frame: u64,
    /// Rate of the downlink with the default MCS; changes of this rate scale all slots.
    rate: Rate,
    /// True if a frame cannot carry a fragment of a packet.
    is_stopped: bool,
    /// Frames in which data was sent since measurement started.
    frames: u64,
    meters: [Meter; 2],
    received: Vec<RequestEvent>,
    candidates: Vec<Candidate>,
    /// Downlink state of each station.
    offers: Vec<DownlinkState>,
    /// Allocation of each station in the current direction of the frame.
    turns: Vec<FrameAllocation>,
    /// Time at which the first burst closes.
    closes: Time,
    /// Time of the earliest irregular event: reception of requests, fallback requests, timers of
    /// queues and of the grant policy.
    seldom: Time,
    /// Time of the earliest event.
    wakeup: Time,
}

impl Component<dyn Link + Send, LinkContext> for Tdd {
    type Config = TddConfig;

    fn check(config: &TddConfig) -> Result<(), ConfigError> {
        config.check()
    }

    fn build(
        config: TddConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let Setup { seed, extra: context, .. } = setup;
        let (clock, stations) = (config.clock(), config.stations);
        let slots = config.slots();
        let users = context.users.folded(stations)?;
        let request = Setup {
            seed: seed.child("request"),
            registry: &context.registries.get::<RequestRegistry>(),
            extra: RequestContext { stations, clock },
        };
        let request =
            AnyRequest::build(&config.request, request).map_err(|error| error.under("request"))?;
        let grant = Setup {
            seed: seed.child("grant"),
            registry: &context.registries.get::<GrantRegistry>(),
            extra: GrantContext { stations, frame: clock.frame() },
        };
        let grant = AnyGrant::build(&config.grant, grant).map_err(|error| error.under("grant"))?;
        let (asking, rules) = (request.rules(), grant.rules());
        if rules.asks && !asking.can_ask {
            let kind = config.grant["kind"].as_str().unwrap_or_default();
            let problem = "grants nothing, because stations cannot send requests";
            return Err(ConfigError::new("grant.kind", kind, problem));
        }
        // This check is for plug-in policies; `check` has already checked built-in policies.
        if rules.largest > config.capacity(1) {
            let problem = "more than a frame's uplink";
            return Err(ConfigError::new("grant.size_bytes", rules.largest, problem));
        }
        let mut sizes = Vec::with_capacity(stations as usize);
        let cell = radio::Cell {
            stations,
            frame: clock.frame(),
            slots,
            slot_symbols: config.slot_symbols,
        };
        let radio = config
            .radio
            .as_ref()
            .map(|radio| Radio::new(radio, &config.users, cell, (&context, &seed.child("radio"))));
        let radio = radio.transpose()?;
        // The queues of the downlink are created first, so they have the lower IDs.
        let down = Self::queues(&config, &context.forward)?;
        let up = match &context.reverse {
            Some(reverse) => Self::queues(&config, reverse)?,
            None => (0..stations).map(|_| Self::no_queue()).collect(),
        };
        let mut made = Vec::with_capacity(stations as usize);
        for (number, (down, up)) in (0..stations).zip(down.into_iter().zip(up)) {
            let slot = config.slot_sizes(number)?;
            let order = config.in_order;
            let sides = [Side::new(down, slot[0], order.down), Side::new(up, slot[1], order.up)];
            made.push(Station::new(sides));
            sizes.push(slot);
        }
        let frame_s = clock.frame().as_secs_lossy();
        let usual = config.slot_sizes(u32::MAX)?;
        let nominal = [0, 1].map(|side| Rate(usual[side].rate(slots[side], frame_s) as u64));
        let segmentation = [0, 1].map(|side| Segmentation {
            header: config.header(),
            fragments: config.fragmentation.of(side),
            packs: config.packing.of(side),
        });
        let count = stations as usize;
        let reverse = context.reverse.as_ref().map(|side| side.output);
        let ports = [context.forward.output, reverse.unwrap_or_default()];
        let mut tdd = Tdd {
            clock,
            frame_s,
            slots,
            slot_symbols: config.slot_symbols,
            per_burst: config.map_overhead.per_burst,
            map_relevance: config.map_relevance,
            segmentation,
            directions: 1 + usize::from(reverse.is_some()),
            stations: made,
            sizes,
            nominal,
            ports,
            schedulers: [
                Self::scheduler(&config, &context, nominal[0], &seed.child("down"))?,
                Self::scheduler(&config, &context, nominal[1], &seed.child("up"))?,
            ],
            request,
            asking,
            grant,
            rules,
            air: [
                AirInterface::new(
                    &config,
                    &context,
                    config.errors.as_ref(),
                    &seed.child("forward"),
                )?,
                AirInterface::new(
                    &config,
                    &context,
                    config.reverse_errors.as_ref(),
                    &seed.child("reverse"),
                )?,
            ],
            users,
            radio,
            with_data: UserSet::new(count),
            with_request: UserSet::new(count),
            bursts: VecDeque::new(),
            stated: DelayQueue::default(),
            piggyback_requests: PiggybackRequests::default(),
            piggyback_read: config.piggyback_read,
            fallbacks: Timers::new(count),
            queue_timers: [Timers::new(count), Timers::new(count)],
            next_frame: 0,
            rate: nominal[0],
            is_stopped: false,
            frames: 0,
            meters: [Meter::default(), Meter::default()],
            received: Vec::new(),
            candidates: Vec::with_capacity(count),
            offers: vec![DownlinkState::STALE; count],
            turns: vec![FrameAllocation::default(); count],
            closes: Time::NEVER,
            seldom: Time::NEVER,
            wakeup: Time::NEVER,
        };
        tdd.find_irregular_timer();
        tdd.set_wakeup();
        Ok(tdd)
    }
}

impl Tdd {
    /// Returns an unused queue in place of an uplink queue, for a link with one direction.
    fn no_queue() -> Queue {
        let droptail = DropTail::new(DropTailConfig { limit: Limit::Packets(1) });
        Queue::new(AnyQueue::DropTail(droptail), QueueId::NONE)
    }

    /// Creates the queues of a direction: one for each station.
    fn queues(config: &TddConfig, context: &DirectionContext) -> Result<Vec<Queue>, ConfigError> {
        let queue = |station: u32| context.queue(&format!("station {station}"));
        (0..config.stations).map(queue).collect()
    }

    fn scheduler(
        config: &TddConfig,
        context: &LinkContext,
        rate: Rate,
        seed: &Seed,
    ) -> Result<AnyScheduler, ConfigError> {
        let registry = &context.registries.get::<SchedulerRegistry>();
        let slot = config.clock().frame();
        let population = Population::even(config.stations as usize, slot, rate);
        let setup = Setup { seed: seed.child("scheduler"), registry, extra: population };
        AnyScheduler::build(&config.scheduler, setup).map_err(|error| error.under("scheduler"))
    }

    /// Notifies the queue disciplines of the nominal rate: the rate of a station that has the
    /// complete frame.
    fn notify_rate(&mut self, ctx: &mut Ctx<'_>) {
        for number in 0..self.stations.len() {
            for side in 0..2 {
                let direction = &mut self.stations[number].sides[side];
                let nominal = self.sizes[number][side].rate(self.slots[side], self.frame_s) as u64;
                let nominal = Rate(scale(nominal, self.rate.0, self.nominal[0].0));
                let header = Bytes(self.segmentation[side].header);
                let framing = Framing::with_overhead(header);
                direction.queue.on_rate(LinkRate { nominal, framing }, ctx);
                self.look_at(side, number);
            }
        }
    }

    /// Scales the capacity of all slots of both directions by the ratio of `rate` to the nominal
    /// rate of the downlink.
    fn change_rate(&mut self, rate: Rate, ctx: &mut Ctx<'_>) {
        self.wait_for_frame(ctx.now);
        self.rate = rate;
        for (station, sizes) in self.stations.iter_mut().zip(&self.sizes) {
            for (side, size) in station.sides.iter_mut().zip(sizes) {
                side.slot = size.scaled(rate.0, self.nominal[0].0);
            }
        }
        if let Some(radio) = &mut self.radio {
            radio.scale(rate.0, self.nominal[0].0);
        }
        self.is_stopped = self.stations.iter().any(|station| !self.carries_anything(station));
        self.wait_for_frame(ctx.now);
        self.notify_rate(ctx);
    }

    /// Changes the MCS or the SNR of a station.
    fn change_user(&mut self, user: UserId, change: &UserChange, ctx: &mut Ctx<'_>) {
        let number = user.0 as usize;
        if number >= self.stations.len() {
            return ctx.fail(format!(
                "a control event changes station {number} of only {} stations",
                self.stations.len()
            ));
        }
        match (change, &mut self.radio) {
            (UserChange::SnrMoved(moved_db), Some(radio)) => radio.move_by(number, *moved_db),
            (UserChange::Scheme { is_reverse, name }, None) => {
                let side = usize::from(*is_reverse);
                let symbols = self.slot_symbols;
                match slots::slot_of("scheme", name, side, symbols) {
                    Ok(size) => self.sizes[number][side] = size,
                    Err(error) => return ctx.fail(error.to_string()),
                }
                self.change_rate(self.rate, ctx);
            }
            (UserChange::SnrMoved(_), None) => {
                ctx.fail("a control event changes the SNR, but the link has no radio")
            }
            (UserChange::Scheme { .. }, Some(_)) => {
                ctx.fail("a control event changes the MCS, but the radio selects the MCS");
            }
        }
    }

    /// Returns true if a frame can carry a fragment of a packet for the station, in both
    /// directions.
    fn carries_anything(&self, station: &Station) -> bool {
        (0..2).all(|side| {
            let slot =
                self.radio.as_ref().map_or(station.sides[side].slot, |radio| radio.least(side));
            slot.bytes_of(self.slots[side]) >= self.segmentation[side].header + LEAST_PAYLOAD
        })
    }

    fn restart_measurement(&mut self, now: Time) {
        self.frames = 0;
        self.meters.iter_mut().for_each(|meter| meter.restart(now));
        self.stations.iter_mut().for_each(|station| station.restart_measurement(now));
        self.request.restart_measurement();
        self.radio.iter_mut().for_each(Radio::restart_measurement);
    }
}

/// Returns `value` · `rate` / `nominal`.
fn scale(value: u64, rate: u64, nominal: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(rate) / u128::from(nominal.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

impl Stage for Tdd {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let side = usize::from(port.0);
        let number = self.users.of(packet.flow).0 as usize;
        if side == 0 {
            self.wait_for_frame(ctx.now);
            self.stations[number].sides[0].queue.enqueue(packet, ctx);
            self.look_at(0, number);
        } else {
            self.receive_at_station(number, packet, ctx);
        }
        self.set_wakeup();
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.seldom <= ctx.now {
            self.poll_requests(ctx.now);
        }
        for side in 0..2 {
            if self.air[side].next_wakeup() <= ctx.now {
                self.receive_mpdus(side, ctx);
            }
        }
        if self.seldom <= ctx.now {
            self.receive_requests(ctx.now);
        }
        if self.closes <= ctx.now {
            self.close_bursts(ctx);
        }
        if self.seldom <= ctx.now {
            self.send_fallback_requests(ctx.now);
            self.wake_queues(ctx);
            self.grant_by_itself(ctx.now);
            self.find_irregular_timer();
        }
        if self.is_awake() && self.clock.start_of(self.next_frame) <= ctx.now {
            self.begin_frame(ctx);
        }
        self.set_wakeup();
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.wakeup
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Begin => self.notify_rate(ctx),
            Control::StartMeasurement => self.restart_measurement(ctx.now),
            Control::Rate(rate) => self.change_rate(*rate, ctx),
            Control::User(user, change) => self.change_user(*user, change, ctx),
            _ => {}
        }
        self.find_irregular_timer();
        self.set_wakeup();
    }

    fn held(&self) -> usize {
        self.stations.iter().flat_map(|station| &station.sides).map(Side::held).sum()
    }
}

impl Link for Tdd {
    fn sides() -> Sides {
        Sides::Both
    }

    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        let side = usize::from(port.0);
        self.stations.iter_mut().for_each(|station| visit(&mut station.sides[side].queue));
    }

    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        if port.0 == 0 {
            self.wait_for_frame(ctx.now);
            (0..self.stations.len()).for_each(|number| self.look_at(0, number));
        } else {
            (0..self.stations.len()).for_each(|number| self.offer_again(number, ctx.now));
        }
        self.find_irregular_timer();
        self.set_wakeup();
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        (0..self.directions).map(|side| self.report(side, now)).collect()
    }
}
