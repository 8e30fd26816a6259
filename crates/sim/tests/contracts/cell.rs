//! A toy cell: one stage with one queue per user and a toy scheduler, for one or both directions.
//!
//! Packets enter through one input, and the cell looks up their user. The context builds queues by
//! name, so every registered queue discipline can be used. There are two schedulers: `round-robin`
//! sends one packet at a time, and serves the users in cyclic order. `apart` gives each user a
//! separate channel, so that a cell of a thousand users behaves like a thousand links.

use airpath_aqm::Queue;
use airpath_core::{
    ConfigError, Control, Ctx, LinkRate, Packet, Port, Rate, Stage, Time, registry::read_config,
};
use airpath_link::{DirectionContext, Link, LinkContext, LinkReport, SideReport, Sides, Users};
use airpath_path::Components;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Scheduler {
    RoundRobin,
    Apart,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellConfig {
    /// Rate of a channel, bit/s.
    rate_bps: u64,
    scheduler: Scheduler,
}

/// A channel, which sends one packet at a time.
#[derive(Default)]
struct Channel {
    /// Users with packets, in the order of service.
    turns: VecDeque<usize>,
    sending: Option<(usize, Packet, Time)>,
}

/// One direction of the cell.
struct Direction {
    queues: Vec<Queue>,
    /// True if the user is in the `turns` of its channel.
    has_turn: Vec<bool>,
    channels: Vec<Channel>,
    rate: Rate,
    output: Port,
    /// Times of events of users' queues and channels, including outdated entries.
    due: BinaryHeap<Reverse<(Time, usize)>>,
    delivered: u64,
}

impl Direction {
    fn new(
        config: CellConfig,
        users: usize,
        side: &DirectionContext,
    ) -> Result<Direction, ConfigError> {
        let queue = |user: usize| side.queue(&format!("user {user}"));
        let channels = if config.scheduler == Scheduler::Apart { users } else { 1 };
        Ok(Direction {
            queues: (0..users).map(queue).collect::<Result<_, _>>()?,
            has_turn: vec![false; users],
            channels: (0..channels).map(|_| Channel::default()).collect(),
            rate: Rate(config.rate_bps),
            output: side.output,
            due: BinaryHeap::new(),
            delivered: 0,
        })
    }

    fn channel_of(&self, user: usize) -> usize {
        user % self.channels.len()
    }

    /// Adds the user to the turns of its channel if it has packets, and starts a transmission if
    /// the channel is idle.
    fn serve(&mut self, user: usize, ctx: &mut Ctx<'_>) {
        let channel = self.channel_of(user);
        if !self.has_turn[user] && !self.queues[user].is_empty() {
            self.has_turn[user] = true;
            self.channels[channel].turns.push_back(user);
        }
        self.send_next(channel, ctx);
        self.watch(user);
    }

    fn send_next(&mut self, channel: usize, ctx: &mut Ctx<'_>) {
        while self.channels[channel].sending.is_none()
            && let Some(user) = self.channels[channel].turns.pop_front()
        {
            let packet = self.queues[user].dequeue(ctx);
            self.has_turn[user] = !self.queues[user].is_empty();
            if self.has_turn[user] {
                self.channels[channel].turns.push_back(user);
            }
            if let Some(packet) = packet {
                let ends = ctx.now + packet.bytes() / self.rate;
                self.channels[channel].sending = Some((user, packet, ends));
                self.due.push(Reverse((ends, user)));
            }
            self.watch(user);
        }
    }

    /// Schedules the next timer of the user's queue discipline.
    fn watch(&mut self, user: usize) {
        let timer = self.queues[user].next_wakeup();
        if !timer.is_never() {
            self.due.push(Reverse((timer, user)));
        }
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(Reverse((at, user))) = self.due.peek().copied()
            && at <= ctx.now
        {
            self.due.pop();
            self.queues[user].wake_if_due(ctx);
            let channel = self.channel_of(user);
            if let Some((sender, mut packet, ends)) = self.channels[channel].sending
                && ends <= ctx.now
            {
                self.channels[channel].sending = None;
                self.queues[sender].on_served(&mut packet, ctx);
                self.delivered += 1;
                ctx.emit(self.output, packet);
            }
            self.serve(user, ctx);
        }
    }

    fn next_wakeup(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    fn held(&self) -> usize {
        let sending = self.channels.iter().filter(|channel| channel.sending.is_some()).count();
        self.queues.iter().map(Queue::waiting).sum::<usize>() + sending
    }

    fn report(&self, now: Time) -> SideReport {
        let queues = self.queues.iter().map(|queue| queue.report(now)).collect();
        let link = LinkReport { delivered_packets: self.delivered, ..LinkReport::default() };
        SideReport::of(queues, link)
    }
}

/// The cell; direction 0 is forward.
struct Cell {
    users: Users,
    directions: Vec<Direction>,
}

impl Cell {
    fn new(config: CellConfig, context: &LinkContext) -> Result<Cell, ConfigError> {
        let sides = [Some(&context.forward), context.reverse.as_ref()].into_iter().flatten();
        let users = context.users.count();
        let directions = sides.map(|side| Direction::new(config, users, side));
        Ok(Cell { users: context.users.clone(), directions: directions.collect::<Result<_, _>>()? })
    }
}

impl Stage for Cell {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let user = self.users.of(packet.flow).0 as usize;
        let direction = &mut self.directions[usize::from(port.0)];
        direction.queues[user].enqueue(packet, ctx);
        direction.serve(user, ctx);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        self.directions.iter_mut().for_each(|direction| direction.wake(ctx));
    }

    fn next_wakeup(&self) -> Time {
        self.directions.iter().map(Direction::next_wakeup).min().unwrap_or(Time::NEVER)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        for direction in &mut self.directions {
            match event {
                Control::Rate(rate) => direction.rate = *rate,
                Control::StartMeasurement => direction.delivered = 0,
                Control::Begin => {}
                _ => continue,
            }
            for user in 0..direction.queues.len() {
                match event {
                    Control::StartMeasurement => {
                        direction.queues[user].restart_measurement(ctx.now);
                    }
                    _ => direction.queues[user].on_rate(LinkRate::of_packets(direction.rate), ctx),
                }
                direction.watch(user);
            }
        }
    }

    fn held(&self) -> usize {
        self.directions.iter().map(Direction::held).sum()
    }
}

impl Link for Cell {
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        self.directions[usize::from(port.0)].queues.iter_mut().for_each(visit);
    }

    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        let direction = &mut self.directions[usize::from(port.0)];
        (0..direction.queues.len()).for_each(|user| direction.serve(user, ctx));
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        self.directions.iter().map(|direction| direction.report(now)).collect()
    }
}

/// Returns components with the link `toy-cell`.
pub(crate) fn with_cell() -> Components {
    let mut components = Components::default();
    components.links.register_serving(Sides::OneOrBoth, "toy-cell", |parameters, setup| {
        Ok(Box::new(Cell::new(read_config(parameters)?, &setup.extra)?))
    });
    components
}
