//! [`InterruptibleLink`]: wrapper of any link that can be interrupted, for example by a handover.
//!
//! During an interruption the queues of the direction are closed: the link finds no packets. A
//! packet that the link finishes meanwhile was in transmission, or in a retransmission loop, at the
//! start. The treatment of packets is that of [`Interruption`].
//!
//! * `Keep`: waiting packets stay in the queues, and the limits of the queues apply. Packets that
//!   the link finishes meanwhile leave at the end, before all others.
//! * `Forward`: the source cell forwards the packets that wait at the start to the target cell, and
//!   also those that arrive until the end of the interruption (3GPP TS 36.300, 10.1.2: data
//!   forwarding, and the end marker that keeps order). The others are lost, as in a seamless
//!   handover.
//! * `Lose`: all packets that have arrived before the end are lost.
//!
//! A lost packet in transmission occupies the link for the rest of its transmission time.

use crate::link::{Link, SideReport};
use crate::links::registry::AnyLink;
use airpath_aqm::Queue;
use airpath_core::{
    Control, Ctx, DropReason, Emission, Interruption, Packet, Port, QueueId, Ring, Stage, Time,
};

/// A link that can be interrupted. Its queues are interruptible.
pub struct InterruptibleLink {
    inner: AnyLink,
    /// State of each direction; the index is the port.
    directions: [Direction; 2],
    /// Packets that the inner link has sent in the current call.
    sent: Vec<Emission>,
}

/// State of one direction.
#[derive(Default)]
struct Direction {
    /// Interruption in progress.
    interruption: Option<Interruption>,
    /// Packets that leave at the end of the interruption.
    finished: Ring<Packet>,
    /// Packets that will enter the queue, and the times at which they enter.
    forwarded: Ring<(Time, Packet)>,
    /// Time of the last of these packets.
    last_forwarded: Time,
    /// Packets that arrived before this time are lost when the link has finished them.
    lost_before: Time,
    /// The queue of the direction, if it is the only one.
    queue: Option<QueueId>,
    /// Packets and bytes that the link has finished and that were lost, since the start of
    /// measurement.
    lost: (u64, u64),
}

impl Direction {
    /// Returns the time at which a packet that arrives now enters the queue; `None` if it enters
    /// immediately.
    fn entry(&self, now: Time) -> Option<Time> {
        let direct = match self.interruption {
            Some(Interruption::Forward(delay)) => now + delay,
            _ => now,
        };
        let is_direct = direct == now && self.forwarded.is_empty();
        (!is_direct).then(|| direct.max(self.last_forwarded))
    }

    fn forward(&mut self, packet: Packet, enters: Time) {
        self.last_forwarded = enters;
        self.forwarded.push_back((enters, packet));
    }

    fn next_entry(&self) -> Time {
        self.forwarded.front().map_or(Time::NEVER, |(enters, _)| *enters)
    }

    /// Processes a packet that the inner link has finished. Returns true if it leaves now.
    fn passes(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        let waited = packet.waited(ctx.now).as_nanos();
        let arrived = Time::from_nanos(ctx.now.as_nanos().saturating_sub(waited));
        if arrived < self.lost_before {
            self.lost = (self.lost.0 + 1, self.lost.1 + packet.bytes().0);
            ctx.enter_queue(self.queue.unwrap_or(QueueId::NONE));
            ctx.drop(*packet, DropReason::Interruption);
            ctx.leave_queue();
            return false;
        }
        if self.interruption == Some(Interruption::Keep) {
            self.finished.push_back(*packet);
            return false;
        }
        true
    }
}

impl InterruptibleLink {
    /// Wraps a link whose queues are interruptible.
    pub fn new(inner: AnyLink) -> InterruptibleLink {
        InterruptibleLink { inner, directions: Default::default(), sent: Vec::new() }
    }

    /// Calls the inner link, and processes the packets that it sends.
    fn with_inner(&mut self, ctx: &mut Ctx<'_>, call: impl FnOnce(&mut AnyLink, &mut Ctx<'_>)) {
        call(&mut self.inner, &mut ctx.with_outbox(&mut self.sent));
        for Emission { output, packet } in self.sent.drain(..) {
            let port = ctx.port_of(output);
            if self.directions[usize::from(port.0)].passes(&packet, ctx) {
                ctx.emit(port, packet);
            }
        }
    }

    fn interrupt(&mut self, port: Port, interruption: Interruption, ctx: &mut Ctx<'_>) {
        let direction = &mut self.directions[usize::from(port.0)];
        direction.interruption = Some(interruption);
        let mut queues = Vec::new();
        self.inner.visit_queues(port, &mut |queue| {
            queues.push(queue.id());
            match interruption {
                Interruption::Keep => {}
                Interruption::Forward(delay) => {
                    let enters = (ctx.now + delay).max(direction.last_forwarded);
                    queue.drain(|packet, _| direction.forward(packet, enters), ctx);
                }
                Interruption::Lose => {
                    queue.drain(|packet, ctx| ctx.drop(packet, DropReason::Interruption), ctx);
                }
            }
            queue.close(interruption == Interruption::Lose);
        });
        direction.queue = if let [only] = queues[..] { Some(only) } else { None };
        direction.lost_before = match interruption {
            Interruption::Keep => direction.lost_before,
            Interruption::Forward(_) => ctx.now,
            Interruption::Lose => Time::NEVER,
        };
        self.with_inner(ctx, |inner, ctx| inner.on_queues_changed(port, ctx));
    }

    fn resume(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        let direction = &mut self.directions[usize::from(port.0)];
        if direction.interruption.take() == Some(Interruption::Lose) {
            direction.lost_before = ctx.now;
        }
        while let Some(packet) = direction.finished.pop_front() {
            ctx.emit(port, packet);
        }
        self.inner.visit_queues(port, &mut Queue::open);
        self.with_inner(ctx, |inner, ctx| inner.on_queues_changed(port, ctx));
    }

    /// Passes the forwarded packets that are due to the queue.
    fn enter_forwarded(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        let number = usize::from(port.0);
        while self.directions[number].next_entry() <= ctx.now
            && let Some((_, packet)) = self.directions[number].forwarded.pop_front()
        {
            self.with_inner(ctx, |inner, ctx| inner.receive(port, &packet, ctx));
        }
    }
}

impl Stage for InterruptibleLink {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let direction = &mut self.directions[usize::from(port.0)];
        match direction.entry(ctx.now) {
            Some(enters) => direction.forward(*packet, enters),
            None => self.with_inner(ctx, |inner, ctx| inner.receive(port, packet, ctx)),
        }
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.inner.next_wakeup() <= ctx.now {
            self.with_inner(ctx, |inner, ctx| inner.wake(ctx));
        }
        self.enter_forwarded(Port(0), ctx);
        self.enter_forwarded(Port(1), ctx);
    }

    fn next_wakeup(&self) -> Time {
        let forwarded = self.directions.iter().map(Direction::next_entry);
        forwarded.fold(self.inner.next_wakeup(), Time::min)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Interrupt(port, interruption) => self.interrupt(*port, *interruption, ctx),
            Control::Resume(port) => self.resume(*port, ctx),
            _ => {
                if *event == Control::StartMeasurement {
                    self.directions.iter_mut().for_each(|direction| direction.lost = (0, 0));
                }
                self.with_inner(ctx, |inner, ctx| inner.control(event, ctx));
            }
        }
    }

    fn held(&self) -> usize {
        let of = |direction: &Direction| direction.finished.len() + direction.forwarded.len();
        self.inner.held() + self.directions.iter().map(of).sum::<usize>()
    }
}

impl Link for InterruptibleLink {
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        self.inner.visit_queues(port, visit);
    }

    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        self.with_inner(ctx, |inner, ctx| inner.on_queues_changed(port, ctx));
    }

    /// Packets that were lost after the link had finished them count as lost.
    fn reports(&self, now: Time) -> Vec<SideReport> {
        let mut reports = self.inner.reports(now);
        for (report, direction) in reports.iter_mut().zip(&self.directions) {
            let (packets, bytes) = direction.lost;
            let link = &mut report.link;
            link.delivered_packets = link.delivered_packets.saturating_sub(packets);
            link.delivered_bytes = link.delivered_bytes.saturating_sub(bytes);
            link.lost_packets += packets;
        }
        reports
    }
}
