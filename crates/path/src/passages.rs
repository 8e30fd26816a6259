//! Builds the hops of a scenario as stages, and connects each hop to the next.
//!
//! Hops are built from the users to the servers. A packet passes from one hop to the next in one of
//! three ways: directly; over the wire in front of the next stage, if only packets from the
//! previous hop enter that stage; or over a wire to a [`Relay`], if packets from elsewhere also
//! enter the stage.

use crate::any_stage::AnyStage;
use crate::build::{Builder, wire};
use crate::hops::HopSpec;
use crate::network::{HopPlace, LinkPlace, Route};
use crate::relay::Relay;
use crate::scenario::{Direction, FlowSpec, Scenario, WireSpec};
use crate::wire::Wire;
use airpath_aqm::{AnyQueue, Limit, Queue};
use airpath_core::{ConfigError, Duration, Port, Setup, StageId, UserId};
use airpath_link::{AnyLink, DirectionContext, InterruptibleLink, LinkContext, Sides, Users};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

/// Stages and ports of one direction of a hop.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// Input at which packets enter the hop.
    pub(crate) entry: (StageId, Port),
    /// Output at which packets leave the hop.
    pub(crate) exit: (StageId, Port),
    /// Propagation delay after the exit.
    pub(crate) delay: Duration,
    /// True if the propagation delay of the hop is before the exit.
    has_own_delay: bool,
    /// Destination of the packets that continue to the next hop in this direction.
    next: Option<(StageId, Port)>,
    /// Destinations of the packets that leave the path after this hop, by flow number. Empty if no
    /// flow leaves the path here.
    ends: Vec<Option<(StageId, Port)>>,
}

impl Passage {
    fn new(entry: (StageId, Port), exit: (StageId, Port), delay: Duration) -> Passage {
        Passage { entry, exit, delay, has_own_delay: false, next: None, ends: Vec::new() }
    }

    /// Returns the passage of one direction of a link, without a stage after the link.
    fn through(stage: StageId, port: Port, delay: Duration) -> Passage {
        Passage::new((stage, port), (stage, port), delay)
    }
}

impl Passage {
    /// Returns true if the propagation delay of the hop is before the exit.
    pub(crate) fn contains_its_delay(&self) -> bool {
        self.has_own_delay
    }
}

/// The passages of all hops, by position on the path.
#[derive(Debug, Default)]
pub(crate) struct Passages {
    forward: Vec<Option<Passage>>,
    reverse: Vec<Option<Passage>>,
}

impl Passages {
    fn with_hops(count: usize) -> Passages {
        Passages { forward: vec![None; count], reverse: vec![None; count] }
    }

    fn of(&self, direction: Direction) -> &[Option<Passage>] {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    fn of_mut(&mut self, direction: Direction) -> &mut [Option<Passage>] {
        match direction {
            Direction::Forward => &mut self.forward,
            Direction::Reverse => &mut self.reverse,
        }
    }

    /// Returns the input of each hop by position: forward and reverse.
    pub(crate) fn inputs(&self) -> Vec<[Option<(StageId, Port)>; 2]> {
        let input = |passage: &Option<Passage>| passage.as_ref().map(|passage| passage.entry);
        let both = self.forward.iter().zip(&self.reverse);
        both.map(|(forward, reverse)| [input(forward), input(reverse)]).collect()
    }

    /// Returns the positions of the first and the last passage of a flow in a direction; `None` if
    /// the direction has no stages between the endpoints.
    pub(crate) fn first_and_last(
        &self,
        direction: Direction,
        crossed: &RangeInclusive<usize>,
    ) -> Option<(usize, usize)> {
        let passages = self.of(direction);
        let mut positions = crossed.clone().filter(|position| passages[*position].is_some());
        let near_servers = positions.next()?;
        let near_users = positions.next_back().unwrap_or(near_servers);
        Some(match direction {
            Direction::Forward => (near_servers, near_users),
            Direction::Reverse => (near_users, near_servers),
        })
    }

    /// Returns the passage at a position.
    ///
    /// # Panics
    /// Panics if the hop has no passage in this direction.
    pub(crate) fn at(&self, direction: Direction, position: usize) -> &Passage {
        self.of(direction)[position].as_ref().expect("positions come from `first_and_last`")
    }

    /// Stores the input at which packets of a flow leave the path.
    pub(crate) fn end_flow(
        &mut self,
        direction: Direction,
        position: usize,
        (flow, flows): (usize, usize),
        input: (StageId, Port),
    ) {
        let passage = self.of_mut(direction)[position].as_mut().expect("the flow's last passage");
        if passage.ends.is_empty() {
            passage.ends = vec![None; flows];
        }
        passage.ends[flow] = Some(input);
    }

    /// Returns the route of each exit. `crossed` holds the hops of each flow.
    pub(crate) fn routes(self, crossed: &[RangeInclusive<usize>]) -> Vec<((StageId, Port), Route)> {
        let mut routes = Vec::new();
        for passages in [self.forward, self.reverse] {
            for (position, passage) in passages.into_iter().enumerate() {
                let Some(Passage { exit, next, mut ends, .. }) = passage else { continue };
                let route = match next {
                    Some((stage, port)) if ends.is_empty() => Route::To(stage, port),
                    Some(next) => {
                        for (end, crossed) in ends.iter_mut().zip(crossed) {
                            let continues = end.is_none() && crossed.contains(&position);
                            *end = end.or(continues.then_some(next));
                        }
                        Route::ByFlow(ends.into())
                    }
                    None => Route::ByFlow(ends.into()),
                };
                routes.push((exit, route));
            }
        }
        routes
    }
}

/// The distinct ranges of hops that flows cross.
struct Crossings(BTreeSet<(usize, usize)>);

impl Crossings {
    fn of(scenario: &Scenario) -> Crossings {
        let crossed = scenario.flows.entries().iter().map(|flow| scenario.crossed(flow));
        Crossings(crossed.map(RangeInclusive::into_inner).collect())
    }

    /// Returns true if a flow crosses both hops.
    fn connect(&self, near_servers: usize, near_users: usize) -> bool {
        self.0.iter().any(|(first, last)| *first <= near_servers && near_users <= *last)
    }

    /// Returns true if all flows that cross the hop at `position` also cross the hop at `other`.
    fn imply(&self, position: usize, other: usize) -> bool {
        let mut crossing =
            self.0.iter().filter(|(first, last)| (*first..=*last).contains(&position));
        crossing.all(|(first, last)| (*first..=*last).contains(&other))
    }
}

impl Builder<'_> {
    /// Adds the stages of all hops.
    pub(crate) fn passages(&mut self) -> Result<Passages, ConfigError> {
        let crossings = Crossings::of(self.scenario);
        let hops = &self.scenario.hops;
        let mut passages = Passages::with_hops(hops.len());
        for (position, hop) in hops.iter().enumerate().rev() {
            let before = passages.reverse[position..].iter().position(Option::is_some);
            let before = before.map(|distance| position + distance);
            let before = before.filter(|before| crossings.connect(position, *before));
            // If all packets in reverse direction come from the hop nearer to the users, they share
            // the delay after that hop.
            let lead = before
                .filter(|before| crossings.imply(position, *before))
                .and_then(|before| passages.reverse[before].as_ref())
                .map_or(Duration::ZERO, |before| before.delay);
            self.users = self.users_of(position);
            let [forward, reverse] = match hop.wire {
                Some(spec) => self.wired_hop(position, spec, lead)?,
                None => self.linked_hop(position)?,
            };
            for passage in [&forward, &reverse].into_iter().flatten() {
                self.stage_places.set_hop(passage.entry.0, position);
                self.stage_places.set_hop(passage.exit.0, position);
            }
            if let Some(forward) = forward {
                passages.forward[position] = Some(forward);
                self.connect_forward(&mut passages, position, &crossings);
            }
            if let (Some(reverse), Some(before)) = (&reverse, before) {
                let is_merged = hop.wire.is_some() && lead > Duration::ZERO;
                let passage = passages.reverse[before].as_mut().expect("found above");
                let origin = (before, Direction::Reverse);
                passage.next = Some(if is_merged {
                    self.stage_places.set_lead(reverse.entry.0, before, lead);
                    self.variable_delays.add_wire(origin, reverse.entry.0, true);
                    reverse.entry
                } else {
                    let is_exclusive = crossings.imply(position, before);
                    self.delayed(origin, passage, reverse.entry, is_exclusive)
                });
            }
            passages.reverse[position] = reverse;
        }
        Ok(passages)
    }

    /// Connects a hop to the next hop in forward direction, if a flow crosses both.
    fn connect_forward(&mut self, passages: &mut Passages, position: usize, crossings: &Crossings) {
        let mut after = (position + 1..passages.forward.len())
            .filter(|after| passages.forward[*after].is_some());
        let Some(after) = after.next().filter(|after| crossings.connect(position, *after)) else {
            return;
        };
        let entry = passages.at(Direction::Forward, after).entry;
        let passage = passages.at(Direction::Forward, position);
        let origin = (position, Direction::Forward);
        let next = self.delayed(origin, passage, entry, crossings.imply(after, position));
        passages.forward[position].as_mut().expect("built before").next = Some(next);
    }

    /// Returns the input for packets that enter the stage of `entry` after the delay of the passage
    /// at `origin`. If no other packets enter the stage, the delay becomes that of the wire in
    /// front of the stage.
    fn delayed(
        &mut self,
        origin: (usize, Direction),
        passage: &Passage,
        entry: (StageId, Port),
        is_exclusive: bool,
    ) -> (StageId, Port) {
        let is_variable =
            !passage.has_own_delay && self.variable_delays.contains(origin.0, origin.1);
        if passage.delay == Duration::ZERO && !is_variable {
            return entry;
        }
        let in_front = Wire::new(passage.delay, None, Duration::ZERO);
        let stage = entry.0.0 as usize;
        let serves_one_direction =
            !self.links.iter().any(|place| place.stage == entry.0 && place.sides.len() > 1);
        if is_exclusive && serves_one_direction && self.wires[stage].is_transparent() {
            self.stage_places.set_lead(entry.0, origin.0, passage.delay);
            self.wires[stage] = in_front;
            self.variable_delays.add_wire(origin, entry.0, true);
            return entry;
        }
        let relay = self.add_behind(in_front, AnyStage::Relay(Relay));
        self.stage_places.set_lead(relay, origin.0, passage.delay);
        self.variable_delays.add_wire(origin, relay, true);
        self.connect(relay, Port(0), Route::To(entry.0, entry.1));
        (relay, Port(0))
    }

    /// Returns the users of a link at `position`: those of the flows that cross it.
    fn users_of(&self, position: usize) -> Users {
        let user = |flow: &FlowSpec| {
            let crosses = self.scenario.crossed(flow).contains(&position);
            crosses.then(|| flow.user.map(UserId))
        };
        Users::of_crossing(self.scenario.flows.iter().map(user))
    }

    /// Adds the stages of a hop with links: one stage for a link that can serve both directions,
    /// otherwise one stage per direction.
    fn linked_hop(&mut self, position: usize) -> Result<[Option<Passage>; 2], ConfigError> {
        let hop = &self.scenario.hops[position];
        let (down, up) = (hop.down(), hop.up());
        self.interrupts = self.is_interrupted(position);
        let passages = match (down, up) {
            (Some(down), Some(up)) if self.sides(&down, true)? != Sides::One => {
                self.duplex([down, up])?.map(Some)
            }
            (down, up) => {
                let forward = down.map(|down| self.simplex(down)).transpose()?;
                [forward, up.map(|up| self.simplex(up)).transpose()?]
            }
        };
        let [forward, reverse] = &passages;
        self.hops.push(HopPlace {
            name: hop.name.clone(),
            forward: forward.as_ref().map(|passage| passage.entry),
            reverse: reverse.as_ref().map(|passage| passage.entry),
            is_mirrored: hop.is_mirrored(),
        });
        Ok(passages)
    }

    /// Adds the stages of a wired hop. In reverse direction, `lead` is a delay before the wire. A
    /// wire with a limit is a link with a drop-tail queue.
    fn wired_hop(
        &mut self,
        position: usize,
        spec: WireSpec,
        lead: Duration,
    ) -> Result<[Option<Passage>; 2], ConfigError> {
        let hop = &self.scenario.hops[position];
        let leads = [(Direction::Forward, Duration::ZERO), (Direction::Reverse, lead)];
        self.interrupts = self.is_interrupted(position);
        let mut passages = if let Some(queue) = wire_queue(spec) {
            let forward = self.queued_wire(hop.name.clone(), Duration::ZERO, spec, &queue)?;
            let reverse = self.queued_wire(hop.up_name(), lead, spec, &queue)?;
            self.queued_wires.push(HopPlace {
                name: hop.name.clone(),
                forward: Some(forward.entry),
                reverse: Some(reverse.entry),
                is_mirrored: true,
            });
            [Some(forward), Some(reverse)]
        } else {
            leads.map(|(direction, lead)| {
                let is_variable = self.variable_delays.contains(position, direction);
                let wire = wire(lead, spec);
                (!wire.is_transparent() || is_variable).then(|| {
                    let relay = self.add_behind(wire, AnyStage::Relay(Relay));
                    Passage::through(relay, Port(0), Duration::ZERO)
                })
            })
        };
        for ((direction, _), passage) in leads.into_iter().zip(&mut passages) {
            if let Some(passage) = passage {
                passage.has_own_delay = true;
                self.variable_delays.add_wire((position, direction), passage.exit.0, false);
            }
        }
        Ok(passages)
    }

    /// Adds one direction of a wire with a queue limit: a delay of `lead`, then a fixed-rate link
    /// with a queue, reported under `name`.
    fn queued_wire(
        &mut self,
        name: String,
        lead: Duration,
        spec: WireSpec,
        queues: &Value,
    ) -> Result<Passage, ConfigError> {
        let delay = Duration::from_nanos(spec.delay_ns);
        let link = json!({"kind": "fixed", "rate_bps": spec.rate_bps});
        let hop = HopSpec { name, link: &link, queues, delay };
        let link = self.one_way(&hop)?;
        let lead = Wire::new(lead, None, Duration::ZERO);
        let link = self.add_behind(lead, AnyStage::Link(Box::new(link)));
        self.settle();
        self.links.push(LinkPlace { stage: link, sides: vec![hop.name] });
        let end = Wire::new(delay, None, Duration::ZERO);
        let end = self.add_behind(end, AnyStage::Relay(Relay));
        self.connect(link, Port(0), Route::To(end, Port(0)));
        Ok(Passage::new((link, Port(0)), (end, Port(0)), Duration::ZERO))
    }

    fn simplex(&mut self, hop: HopSpec<'_>) -> Result<Passage, ConfigError> {
        let link = self.one_way(&hop)?;
        let stage = self.add_behind(Wire::default(), AnyStage::Link(Box::new(link)));
        self.settle();
        self.links.push(LinkPlace { stage, sides: vec![hop.name] });
        Ok(Passage::through(stage, Port(0), hop.delay))
    }

    /// Adds a link that serves both directions.
    fn duplex(&mut self, hops: [HopSpec<'_>; 2]) -> Result<[Passage; 2], ConfigError> {
        let [forward, reverse] = &hops;
        let (there, back) = (self.direction(forward, Port(0)), self.direction(reverse, Port(1)));
        let link = self.link(forward, self.context(there, Some(back)))?;
        let stage = self.add_behind(Wire::default(), AnyStage::Link(Box::new(link)));
        self.settle();
        let delays = [forward.delay, reverse.delay];
        self.links.push(LinkPlace { stage, sides: hops.map(|hop| hop.name).to_vec() });
        let through = |port: u8| Passage::through(stage, Port(port), delays[usize::from(port)]);
        Ok([through(0), through(1)])
    }

    /// Returns the context of one direction of the link of `hop`. Its queue factory builds the
    /// queues.
    fn direction(&self, hop: &HopSpec<'_>, output: Port) -> DirectionContext {
        let name = hop.name.clone();
        let (description, seed) = (hop.queues.clone(), self.seed.child(&name));
        let (registry, made) = (self.components.queues.clone(), Rc::clone(&self.queues));
        let create = if self.interrupts { Queue::interruptible } else { Queue::new };
        DirectionContext::new(output, move |queue| {
            let (full_name, seed) = match queue {
                None => (name.clone(), seed.clone()),
                Some(queue) => (format!("{name}/{queue}"), seed.child(queue)),
            };
            let mut made = made.borrow_mut();
            let setup = Setup { seed: seed.child("queue"), registry: &registry, extra: () };
            made.add(full_name)
                .and_then(|id| Ok(create(AnyQueue::build(&description, setup)?, id)))
                .map_err(|error| made.note(error.under("queue").under(&name)))
        })
    }

    fn link(&self, hop: &HopSpec<'_>, context: LinkContext) -> Result<AnyLink, ConfigError> {
        let seed = self.seed.child(&hop.name).child("link");
        let setup = Setup { seed, registry: self.components.links.links(), extra: context };
        let link = AnyLink::build(hop.link, setup);
        // In the scenario, a queue is a sibling of the link, not a child. Therefore its errors have
        // a separate key path.
        let of_a_queue = self.queues.borrow_mut().failure.take();
        let link =
            of_a_queue.map_or(link.map_err(|error| error.under("link").under(&hop.name)), Err)?;
        Ok(if self.interrupts {
            AnyLink::Dyn(Box::new(InterruptibleLink::new(link)))
        } else {
            link
        })
    }

    /// Returns the number of directions that a link serves. Fails if the link serves both
    /// directions and `has_reverse` is false.
    fn sides(&self, hop: &HopSpec<'_>, has_reverse: bool) -> Result<Sides, ConfigError> {
        let under = |error: ConfigError| error.under("link").under(&hop.name);
        let sides = self.components.links.sides(hop.link).map_err(under)?;
        if sides == Sides::Both && !has_reverse {
            let kind = hop.link["kind"].as_str().unwrap_or_default();
            let problem = "duplex. Set ack_path = \"reverse\"";
            return Err(under(ConfigError::new("kind", kind, problem)));
        }
        Ok(sides)
    }

    fn context(&self, forward: DirectionContext, reverse: Option<DirectionContext>) -> LinkContext {
        let existing: usize = self.links.iter().map(|place| place.sides.len()).sum();
        LinkContext {
            forward,
            reverse,
            id: existing as u32,
            users: self.users.clone(),
            files: Arc::clone(self.files),
            registries: self.registries.clone(),
        }
    }

    /// Builds a link for one direction.
    fn one_way(&self, hop: &HopSpec<'_>) -> Result<AnyLink, ConfigError> {
        self.sides(hop, false)?;
        self.link(hop, self.context(self.direction(hop, Port(0)), None))
    }
}

/// Returns the queue description of a wire, if it has a limit.
fn wire_queue(spec: WireSpec) -> Option<Value> {
    let limit = match spec.limit? {
        Limit::Packets(packets) => json!({"packets": packets}),
        Limit::Bytes(bytes) => json!({"bytes": bytes}),
    };
    Some(json!({"kind": "droptail", "limit": limit}))
}
