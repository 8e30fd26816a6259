//! Link of a cell: one radio channel that is divided into slots, and a queue for each user.
//!
//! Source: clamp-2008 §5.2 and §5.3.
//!
//! At the start of each slot the rates of the users with data are computed from their SNRs (Eq.
//! 18), and a scheduler selects one user. The block of this user carries as many bits as fit into
//! the slot: several packets, or a part of one packet. The block fails if the SNR at the end of the
//! slot does not support the rate. Its bits are then retransmitted in the next slot of the user, at
//! the rate of that slot. At the n-th consecutive failure the packets that the block would have
//! completed are discarded. A packet that would have been only partly carried by the block is kept.
//! If no packet is discarded, the failure count is not reset. With HARQ the same block is
//! retransmitted instead. A packet is delivered at the end of the slot that completes it.
//!
//! Slots start at integer multiples of their length. While no user has data, the cell has no
//! wake-ups: the SNR is computed as a function of time, and averages are updated by slot number. A
//! packet that arrives during a slot can be served from the next slot. A packet that arrives
//! exactly at the start of a slot can be served in this slot if the slot is not allocated yet.
//!
//! Not modelled: the delay of block acknowledgements, errors in the measured SNR, power control,
//! interference from other cells.
//!
//! | file | contents |
//! | --- | --- |
//! | `settings.rs` | configuration |
//! | `rate.rs`, `rate/` | rate of a slot, and failure of a block |
//! | `harq.rs` | retransmission of a failed block |
//! | `margin.rs` | SNR margin for the selection of the rate |
//! | `user.rs` | state of a user: queue, packets of its blocks, measurements |

mod harq;
mod margin;
mod rate;

mod settings;
#[cfg(test)]
mod tests;
mod user;

pub use harq::Harq;
pub use margin::{AdaptiveMarginConfig, MarginConfig};
pub use rate::{Logarithm, RateConfig};
pub use settings::{CellConfig, UserConfig};

use crate::context::{LinkContext, Users};
use crate::link::{Link, SideReport};
use crate::links::meter::Meter;
use crate::mac::agenda::{Timers, UserSet};
use crate::mac::scheduler::{AnyScheduler, Candidate, Population, SchedulerRegistry};
use airpath_aqm::Queue;
use airpath_core::{
    Bytes, Component, ConfigError, Control, Ctx, Duration, LinkRate, Packet, Port, Rate, Seed,
    Series, Setup, Stage, Time, UserId,
};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};
use harq::HarqBlock;
use margin::Margins;
use rate::{Coded, SlotRate};
use user::{Radio, User};

/// A block that is transmitted in a slot.
#[derive(Clone, Copy, Debug)]
struct Block {
    user: usize,
    /// Slot number.
    slot: u64,
    coded: Coded,
}

/// The cell. Packets enter at input 0 and leave through the configured output.
pub struct Cell {
    slot: Duration,
    users: Users,
    people: Vec<User>,
    radios: Vec<Radio>,
    rate: SlotRate,
    margins: Margins,
    attempts: u32,
    harq: Harq,
    scheduler: AnyScheduler,
    errors: Option<AnyErrors>,
    output: Port,
    with_data: UserSet,
    timers: Timers,
    block: Option<Block>,
    /// Number of the first slot that can still start.
    next_slot: u64,
    /// Users with data and a positive rate in the current slot.
    candidates: Vec<Candidate>,
    meter: Meter,
}

impl Component<dyn Link + Send, LinkContext> for Cell {
    type Config = CellConfig;

    fn check(config: &CellConfig) -> Result<(), ConfigError> {
        config.check()
    }

    fn build(
        config: CellConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let Setup { seed, extra: context, .. } = setup;
        let slot = Duration::from_nanos(config.slot_ns);
        let rate = SlotRate::new(&config.rate, slot, &context.files, &seed.child("rate"))
            .map_err(|error| error.under("rate"))?;
        let count = context.users.count();
        let weights = (0..count as u32).map(|user| config.weight(user)).collect();
        let population = Population { weights, slot, rate: rate.nominal() };
        let registry = &context.registries.get::<SchedulerRegistry>();
        let scheduler = Setup { seed: seed.child("scheduler"), registry, extra: population };
        let scheduler = AnyScheduler::build(&config.scheduler, scheduler)
            .map_err(|error| error.under("scheduler"))?;
        let all = (0..count as u32).map(|user| Self::user(&config, &context, user, &seed));
        let all: Vec<(User, Radio)> = all.collect::<Result<_, _>>()?;
        let (people, radios) = all.into_iter().unzip();
        Ok(Cell {
            slot,
            people,
            radios,
            rate,
            margins: Margins::new(config.margin, count),
            attempts: config.attempts,
            harq: config.harq,
            scheduler,
            errors: context.errors(config.errors.as_ref(), &seed)?,
            output: context.forward.output,
            users: context.users,
            with_data: UserSet::new(count),
            timers: Timers::new(count),
            block: None,
            next_slot: 0,
            candidates: Vec::with_capacity(count),
            meter: Meter::default(),
        })
    }
}

impl Cell {
    /// Creates the user with the ID `user`. The random streams of a user do not depend on the other
    /// users.
    fn user(
        config: &CellConfig,
        context: &LinkContext,
        user: u32,
        seed: &Seed,
    ) -> Result<(User, Radio), ConfigError> {
        let name = format!("user {user}");
        let (snr, place) = config.snr(user);
        let slot = Duration::from_nanos(config.slot_ns);
        let channel = context.slotted_snr(snr, slot, &seed.child(&name), seed);
        let channel = channel.map_err(|error| match place.as_str() {
            "" => error,
            place => error.under(place),
        })?;
        Ok((User::new(context.forward.queue(&name)?), Radio::new(channel)))
    }

    /// Start time of slot number `slot`.
    fn start_of(&self, slot: u64) -> Time {
        Time::from_nanos(slot.saturating_mul(self.slot.as_nanos()))
    }

    /// Number of the first slot that starts at or after `now`.
    fn slot_from(&self, now: Time) -> u64 {
        now.as_nanos().div_ceil(self.slot.as_nanos())
    }

    /// Number of slots that have started since the start of measurement, including unallocated
    /// slots.
    fn measured_slots(&self, now: Time) -> u64 {
        // A slot that starts at `now` is counted only after its allocation.
        let end = self.slot_from(now).max(self.next_slot);
        end.saturating_sub(self.slot_from(self.meter.since()))
    }

    /// Sets the wake-up to the next slot at or after `now`, if no block is on the air.
    #[inline]
    fn wait_for_slot(&mut self, now: Time) {
        if self.block.is_none() {
            self.next_slot = self.next_slot.max(self.slot_from(now));
        }
    }

    /// Returns true if slots are allocated: a user has data, and the rate is above zero.
    #[inline]
    fn is_awake(&self) -> bool {
        !self.with_data.is_empty() && !self.rate.is_zero()
    }

    /// Updates the set of users with data and the timer of the user's queue.
    #[inline]
    fn look_at(&mut self, user: usize, now: Time) {
        let (person, radio) = (&self.people[user], &mut self.radios[user]);
        radio.backlog = person.backlog();
        radio.head_since = person.head_since(now);
        self.with_data.set(user, person.has_data());
        self.timers.note(user, person.queue.next_wakeup());
    }

    /// Sets `candidates` to the users that can be served in slot number `slot`, with their rates.
    /// Returns the largest rate.
    fn find_candidates(&mut self, slot: u64, ctx: &mut Ctx<'_>) -> f64 {
        let mut largest = 0.0f64;
        let (now, records) = (ctx.now, ctx.records(Series::Snr));
        self.candidates.clear();
        for user in self.with_data.iter() {
            let radio = &mut self.radios[user];
            let snr = radio.at(slot);
            if records {
                ctx.record(Series::Snr, user as u32, 10.0 * libm::log10(snr));
            }
            let rate = self.rate.select(snr, self.margins.of(user).value());
            if whole_bits(rate, self.slot) > 0 {
                largest = largest.max(rate);
                let head_wait = now.saturating_since(radio.head_since);
                let (user, backlog) = (UserId(user as u32), radio.backlog);
                self.candidates.push(Candidate { user, rate, backlog, head_wait });
            }
        }
        largest
    }

    /// Allocates slot number `slot`.
    fn begin(&mut self, slot: u64, ctx: &mut Ctx<'_>) {
        self.next_slot = slot + 1;
        let largest = self.find_candidates(slot, ctx);
        if self.candidates.is_empty() {
            return;
        }
        let place = match self.scheduler.choose_and_serve(slot, &self.candidates) {
            Ok(place) => place,
            Err(error) => return ctx.fail(error),
        };
        let Candidate { user, rate, .. } = self.candidates[place];
        let user = user.0 as usize;
        let person = &mut self.people[user];
        let was_best = rate >= largest;
        let coded = match &person.repeated {
            Some(repeated) => repeated.block,
            None => {
                let snr = self.radios[user].channel.at(slot);
                let margin = self.margins.of(user).value();
                let coded = self.rate.block(slot, self.slot, snr, margin);
                person.fill(coded.bits, ctx);
                coded
            }
        };
        // If the discipline has dropped the remaining packets, the slot is unused.
        if person.packets_held() > 0 {
            person.note_slot(coded.rate, was_best);
            self.margins.of_mut(user).note();
            self.block = Some(Block { user, slot, coded });
        }
        self.look_at(user, ctx.now);
    }

    /// Processes the end of the slot of `block`.
    fn end(&mut self, block: Block, ctx: &mut Ctx<'_>) {
        let Block { user, slot, coded } = block;
        let bits = coded.bits;
        let (began, ended) = (self.start_of(slot), self.start_of(slot + 1));
        self.meter.add_busy(began, ended);
        let Cell { people, meter, margins, output, .. } = self;
        let (person, margin) = (&mut people[user], margins.of_mut(user));
        let before = person.repeated.map_or(0.0, |repeated| repeated.combined);
        let combined =
            self.harq.on_feedback(before, self.radios[user].channel.at_end_of(slot), &self.rate);
        let mut has_failed = self.rate.fails(&coded, self.harq, combined);
        if let Some(errors) = &mut self.errors
            && !has_failed
        {
            let (bytes, mcs) = (Bytes(bits.div_ceil(8)), self.rate.mcs(&coded));
            has_failed = errors.corrupts(&Frame { began, ended, bytes, mcs });
        }
        person.repeated = None;
        if has_failed {
            if began >= meter.since() {
                person.note_failed_slot();
            }
            for _ in 0..person.fail(bits, self.attempts, ctx) {
                meter.lose();
                margin.on_loss();
            }
            if self.harq != Harq::Off && person.is_failing() {
                person.repeated = Some(HarqBlock { block: coded, combined });
            }
        } else {
            let deliver = |packet: &Packet, ctx: &mut Ctx<'_>| {
                meter.deliver(packet);
                margin.on_delivery();
                ctx.emit(*output, *packet);
            };
            person.succeed(bits, deliver, ctx);
        }
        self.look_at(user, ctx.now);
    }

    /// Notifies the queue disciplines of the nominal rate.
    fn notify_rate(&mut self, ctx: &mut Ctx<'_>) {
        let rate = LinkRate::of_packets(self.rate.nominal());
        for user in 0..self.people.len() {
            self.people[user].queue.on_rate(rate, ctx);
            self.look_at(user, ctx.now);
        }
    }

    fn change_rate(&mut self, rate: Rate, ctx: &mut Ctx<'_>) {
        self.rate.set_nominal(rate);
        self.notify_rate(ctx);
        self.wait_for_slot(ctx.now);
    }

    fn restart_measurement(&mut self, now: Time) {
        self.meter.restart(now);
        self.margins.restart_measurement();
        self.people.iter_mut().for_each(|person| person.restart_measurement(now));
        self.radios.iter_mut().for_each(Radio::restart_measurement);
    }
}

/// Returns the number of bits of a slot at `rate`, bit/s, rounded down.
#[inline]
fn whole_bits(rate: f64, slot: Duration) -> u64 {
    (rate * slot.as_secs_lossy()) as u64
}

impl Stage for Cell {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let user = self.users.of(packet.flow).0 as usize;
        self.people[user].queue.enqueue(packet, ctx);
        self.look_at(user, ctx.now);
        self.wait_for_slot(ctx.now);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(user) = self.timers.take_due(ctx.now) {
            self.people[user].queue.wake_if_due(ctx);
            self.look_at(user, ctx.now);
        }
        if let Some(block) = self.block
            && self.start_of(block.slot + 1) <= ctx.now
        {
            self.block = None;
            self.end(block, ctx);
        }
        if self.block.is_none() && self.is_awake() && self.start_of(self.next_slot) <= ctx.now {
            self.begin(self.next_slot, ctx);
        }
    }

    fn next_wakeup(&self) -> Time {
        let slot = match self.block {
            Some(block) => self.start_of(block.slot + 1),
            None if self.is_awake() => self.start_of(self.next_slot),
            None => Time::NEVER,
        };
        slot.min(self.timers.next())
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Begin => self.notify_rate(ctx),
            Control::StartMeasurement => self.restart_measurement(ctx.now),
            Control::Rate(rate) => self.change_rate(*rate, ctx),
            _ => {}
        }
    }

    fn held(&self) -> usize {
        self.people.iter().map(User::packets).sum()
    }
}

impl Link for Cell {
    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        self.people.iter_mut().for_each(|person| visit(&mut person.queue));
    }

    fn on_queues_changed(&mut self, _port: Port, ctx: &mut Ctx<'_>) {
        for user in 0..self.people.len() {
            self.look_at(user, ctx.now);
        }
        self.wait_for_slot(ctx.now);
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        let in_progress_since = self.block.map(|block| self.start_of(block.slot));
        let link = self.meter.report_of_time(now, in_progress_since);
        let slots = self.measured_slots(now);
        let users = (0..).zip(self.people.iter().zip(&self.radios));
        let of_user = |(user, (person, radio)): (u32, (&User, &Radio))| {
            let margin = self.margins.of(user as usize).mean();
            person.report(UserId(user), radio, slots, margin)
        };
        let queues = self.people.iter().map(|person| person.queue_report(now)).collect();
        vec![SideReport { users: users.map(of_user).collect(), ..SideReport::of(queues, link) }]
    }
}
