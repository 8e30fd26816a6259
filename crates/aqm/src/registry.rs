//! Registry of queue disciplines, one line each.

use crate::ack_priority::AckPriority;
use crate::ared::Ared;
use crate::clamp::Clamp;
use crate::codel::Codel;
use crate::droptail::DropTail;
use crate::dualpi2::DualPi2;
use crate::fq_codel::FqCodel;
use crate::gred::Gred;
use crate::l4span::L4Span;
use crate::pie::Pie;
use crate::plug_in::PlugIn;
use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::red::Red;
use crate::rem::Rem;
use crate::rlc_red::RlcRed;
use crate::sbd::Sbd;
use crate::vcp::VcpQueue;
use airpath_core::{Bytes, Ctx, LinkRate, Packet, Registry, StageError, Time, built_in_components};

/// Queue disciplines registered at run time.
pub type QueueRegistry = Registry<dyn QueueDisc + Send>;

built_in_components! {
    /// Any queue discipline.
    enum AnyQueue: dyn QueueDisc + Send, (), in PlugIn::new {
        "droptail" => DropTail(DropTail): "Drop-tail: an arrival that exceeds the limit is dropped.",
        "gred" => Gred(Gred): "Gentle RED on the instantaneous queue, independent drops.",
        "red" => Red(Red): "RED: random drops that depend on the average queue length.",
        "ared" => Ared(Ared): "Adaptive RED: adapts max_p to keep the average in a range.",
        "codel" => Codel(Codel): "CoDel: drops at the head if sojourn times stay above a target.",
        "pie" => Pie(Pie): "PIE: random drops; a controller sets the probability by the delay.",
        "fq-codel" => FqCodel(FqCodel): "FQ-CoDel: a queue with CoDel for each flow, new flows first.",
        "clamp" => Clamp(Box<Clamp>): "CLAMP: another discipline, and a price in each packet.",
        "dualpi2" => DualPi2(DualPi2): "DualPI2: coupled queues for scalable flows and for other flows.",
        "l4span" => L4Span(L4Span): "L4Span: marks by the predicted time in which the backlog drains.",
        "sbd" => Sbd(Sbd): "Slope Based Discard: drops at the front if the buffer fills too fast.",
        "rlc-red" => RlcRed(RlcRed): "RED at an RLC buffer: instantaneous occupancy, drops at the front.",
        "rem" => Rem(Rem): "REM: marks or drops by a price of backlog and excess load.",
        "vcp" => VcpQueue(VcpQueue): "VCP: writes the load, as two bits, into departing packets.",
        "ack-priority" => AckPriority(Box<AckPriority>): "ACKs before the packets of another discipline.",
    }
}

impl AnyQueue {
    /// Calls `enqueue` and `state` with a single dispatch.
    #[inline]
    pub(crate) fn enqueue_then_state(
        &mut self,
        packet: &Packet,
        state: &mut QueueState,
        ctx: &mut Ctx<'_>,
    ) {
        usual_component_first!(self, queue, (packet, state, ctx) => {
            queue.enqueue(packet, ctx);
            *state = queue.state();
        });
    }

    /// Calls `on_served`; the most common discipline is called without a table lookup.
    #[inline]
    pub(crate) fn serve(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        usual_component_first!(self, queue => queue.on_served(packet, ctx));
    }

    /// Calls `dequeue_into` and `state` with a single dispatch.
    #[inline]
    pub(crate) fn dequeue_then_state(
        &mut self,
        packet: &mut Packet,
        state: &mut QueueState,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        usual_component_first!(self, queue, (packet, state, ctx) => {
            let is_found = queue.dequeue_into(packet, ctx);
            *state = queue.state();
            is_found
        })
    }
}

impl QueueDisc for AnyQueue {
    delegate_queue!(match each_component);
}
