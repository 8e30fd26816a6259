//! Registry of queue disciplines, one line each.

use crate::ack_priority::AckPriority;
use crate::ared::Ared;
use crate::clamp::Clamp;
use crate::codel::Codel;
use crate::droptail::DropTail;
use crate::dualpi2::DualPi2;
use crate::fq_codel::FqCodel;
use crate::gred::Gred;
use crate::pie::Pie;
use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::red::Red;
use crate::rem::Rem;
use crate::rlc_red::RlcRed;
use crate::sbd::Sbd;
use crate::vcp::VcpQueue;
use airpath_core::{Bytes, Ctx, LinkRate, Packet, Registry, Time, built_in_components};

/// Queue disciplines registered at run time.
pub type QueueRegistry = Registry<dyn QueueDisc + Send>;

built_in_components! {
    /// Any queue discipline.
    enum AnyQueue: dyn QueueDisc + Send, () {
        "droptail" => DropTail(DropTail): "Drop-tail: an arrival that exceeds the limit is dropped.",
        "gred" => Gred(Gred): "Gentle RED on the instantaneous queue, independent draws.",
        "red" => Red(Red): "RED: random drops by an average of the queue length.",
        "ared" => Ared(Ared): "Adaptive RED: max_p keeps the average between the thresholds.",
        "codel" => Codel(Codel): "CoDel: drops at the head while sojourn times stay above a target.",
        "pie" => Pie(Pie): "PIE: random drops, with a probability controlled by the delay.",
        "fq-codel" => FqCodel(FqCodel): "FQ-CoDel: a queue per flow, new flows first, each under CoDel.",
        "clamp" => Clamp(Box<Clamp>): "CLAMP's price around any discipline, for windows that obey it.",
        "dualpi2" => DualPi2(DualPi2): "DualPI2: a queue for scalable flows and one for others, coupled.",
        "sbd" => Sbd(Sbd): "Slope Based Discard: a drop at the front when the buffer fills too fast.",
        "rlc-red" => RlcRed(RlcRed): "RED at an RLC buffer: instantaneous occupancy, drops at the front.",
        "rem" => Rem(Rem): "REM: marks or drops by a price that rises with backlog and excess load.",
        "vcp" => VcpQueue(VcpQueue): "VCP: the load factor, in two bits, in each packet that leaves.",
        "ack-priority" => AckPriority(Box<AckPriority>): "ACKs ahead of any discipline's packets.",
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
        usual_component_first!(
            self, queue, (packet, state, ctx): (&Packet, &mut QueueState, &mut Ctx<'_>) => (): {
                queue.enqueue(packet, ctx);
                *state = queue.state();
            }
        );
    }

    /// Calls `on_served`; the most common discipline is called without a table lookup.
    #[inline]
    pub(crate) fn serve(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        usual_component_first!(
            self, queue, (packet, ctx): (&mut Packet, &mut Ctx<'_>) => (): queue.on_served(packet, ctx)
        );
    }

    /// Calls `dequeue_into` and `state` with a single dispatch.
    #[inline]
    pub(crate) fn dequeue_then_state(
        &mut self,
        packet: &mut Packet,
        state: &mut QueueState,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        usual_component_first!(
            self, queue, (packet, state, ctx): (&mut Packet, &mut QueueState, &mut Ctx<'_>) => bool: {
                let is_found = queue.dequeue_into(packet, ctx);
                *state = queue.state();
                is_found
            }
        )
    }
}

impl QueueDisc for AnyQueue {
    delegate_queue!(match each_component);
}
