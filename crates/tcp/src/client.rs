//! A client that loads pages over one or several connections, with the senders of all of them.
//!
//! The connections share the client's state, so that they are one stage. Packets of each connection
//! arrive at input 0 and are distributed by flow.

use crate::application::Requests;
use crate::sender::Sender;
use airpath_core::{Control, Ctx, DropReason, FlowId, Packet, Port, Stage, Time};

/// Senders of the connections of a client that requests objects.
pub struct Client {
    /// Senders of consecutive flows.
    senders: Box<[Sender]>,
    requests: Requests,
    /// Flow number of the first connection.
    first: FlowId,
    /// Time of the next requests; `NEVER` while the client waits for objects.
    turn: Time,
}

impl Client {
    /// Creates a client that requests the first page at `start`. `senders` are the senders of the
    /// flows from `first` on.
    pub fn new(requests: Requests, first: FlowId, start: Time, senders: Vec<Sender>) -> Client {
        let senders = senders.into_iter().map(Sender::with_responses).collect();
        Client { senders, requests, first, turn: start }
    }

    /// Returns the sender of a flow; `None` if the flow is not a connection of the client.
    #[inline]
    pub fn sender(&self, flow: FlowId) -> Option<&Sender> {
        self.senders.get(flow.0.checked_sub(self.first.0)? as usize)
    }

    /// Returns the measurements of objects and pages, if `flow` is the client's first connection.
    pub fn requests_of(&self, flow: FlowId) -> Option<&Requests> {
        (flow == self.first).then_some(&self.requests)
    }

    #[cold]
    fn request(&mut self, ctx: &mut Ctx<'_>) {
        self.turn = Time::NEVER;
        let has_stopped = |sender: &Sender| ctx.now >= sender.stops_at();
        if self.senders.iter().any(has_stopped) {
            return;
        }
        while let Some((connection, bytes)) = self.requests.request(ctx.now) {
            self.senders[connection].respond(bytes, ctx);
        }
    }
}

impl Stage for Client {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let connection = packet.flow.0.wrapping_sub(self.first.0) as usize;
        let Some(sender) = self.senders.get_mut(connection) else {
            return ctx.drop(*packet, DropReason::Stray);
        };
        sender.receive(port, packet, ctx);
        let delivered = sender.acknowledged();
        if let Some(next) = self.requests.on_delivered(connection, delivered, ctx.now) {
            self.turn = next;
        }
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.turn <= ctx.now {
            self.request(ctx);
        }
        for sender in &mut self.senders {
            if sender.next_wakeup() <= ctx.now {
                sender.wake(ctx);
                if sender.is_aborted() {
                    self.requests.give_up(ctx.now);
                }
            }
        }
    }

    fn next_wakeup(&self) -> Time {
        self.senders.iter().map(Sender::next_wakeup).fold(self.turn, Time::min)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::StartMeasurement => self.requests.start_measurement(ctx.now),
            Control::Start => {
                if self.requests.is_new() {
                    self.turn = ctx.now;
                }
                return;
            }
            _ => {}
        }
        for sender in &mut self.senders {
            sender.control(event, ctx);
        }
    }

    fn held(&self) -> usize {
        self.senders.iter().map(Sender::held).sum()
    }
}
