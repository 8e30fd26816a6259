//! Drop curves of the covered queue disciplines.

use crate::reasons::Reason;
use airpath_aqm::{
    DropTailConfig, GredConfig, Limit, RedConfig, RedCurve, RedVariant, gred_drop_probability,
    red_automatic_min_th, red_initial_probability,
};
use airpath_core::{Bytes, Duration, registry};
use airpath_model::QueueLimit;
use serde_json::Value;

/// Ratio max_th / min_th of automatic thresholds.
const AUTOMATIC_THRESHOLD_RATIO: f64 = 3.0;

/// Queue of a hop in terms of the model.
#[derive(Clone, Copy, Debug)]
pub(super) enum HopQueue {
    DropTail(QueueLimit),
    Gred(GredConfig),
    Red { curve: RedCurve, wait: bool, variant: RedVariant, limit: f64 },
}

impl HopQueue {
    /// Reads a queue of a link with a rate in bit/s. `packet` is the largest packet.
    pub(super) fn new(
        description: &Value,
        rate_bps: u64,
        packet: Bytes,
    ) -> Result<HopQueue, Reason> {
        let (kind, parameters) = registry::split_kind(description)?;
        match kind.as_str() {
            "droptail" => {
                let config: DropTailConfig = registry::read_config(&parameters)?;
                drop_tail(config.limit, packet)
            }
            "gred" => Ok(HopQueue::Gred(registry::read_config(&parameters)?)),
            "red" => Ok(red(&registry::read_config(&parameters)?, rate_bps)),
            other => Err(Reason::not_covered("kind", other, "droptail, red, gred")),
        }
    }

    /// Returns the largest number of waiting packets.
    pub(super) fn limit(&self) -> QueueLimit {
        match self {
            HopQueue::DropTail(limit) => *limit,
            HopQueue::Gred(config) => QueueLimit::Packets(2.0 * config.max_th),
            HopQueue::Red { limit, .. } => QueueLimit::Packets(*limit),
        }
    }

    /// Returns the drop probability as a function of the mean queue; `None` for drop-tail.
    pub(super) fn curve(&self) -> Option<impl Fn(f64) -> f64> {
        let queue = *self;
        let probability = move |packets: f64| match &queue {
            HopQueue::DropTail(_) => 0.0,
            HopQueue::Gred(config) => gred_drop_probability(packets, config),
            HopQueue::Red { curve, wait, variant, .. } => {
                red_drop_share(red_initial_probability(packets, curve), *wait, *variant)
            }
        };
        (!matches!(self, HopQueue::DropTail(_))).then_some(probability)
    }
}

fn drop_tail(limit: Limit, packet: Bytes) -> Result<HopQueue, Reason> {
    let (is_too_small, limit, value) = match limit {
        Limit::Packets(packets) => {
            (packets == 0, QueueLimit::Packets(packets as f64), format!("{packets} packets"))
        }
        Limit::Bytes(bytes) => {
            (bytes < packet.0, QueueLimit::Bits(8.0 * bytes as f64), format!("{bytes} B"))
        }
    };
    let small = || Reason::not_covered("limit", value, "queues for at least one packet");
    if is_too_small { Err(small()) } else { Ok(HopQueue::DropTail(limit)) }
}

fn red(config: &RedConfig, rate_bps: u64) -> HopQueue {
    let packets_per_s = rate_bps as f64 / (8.0 * config.mean_packet_bytes as f64);
    let target = Duration::from_nanos(config.target_delay_ns);
    let min_th = config.min_th.unwrap_or_else(|| red_automatic_min_th(target, packets_per_s));
    let max_th = config.max_th.unwrap_or(AUTOMATIC_THRESHOLD_RATIO * min_th);
    let curve = RedCurve { min_th, max_th, max_p: config.max_p, gentle: config.gentle };
    HopQueue::Red { curve, wait: config.wait, variant: config.variant, limit: config.limit as f64 }
}

/// Returns the share of arrivals that RED drops at a constant p_b: the inverse of the mean number
/// of arrivals between drops, which is uniform on 1 to 1/p_b, or on 1/p_b + 1 to 2/p_b with `wait`
/// (red-1993 §7). In the variant of ns-2 and ns-3 all numbers are smaller by one half on average.
fn red_drop_share(p_b: f64, wait: bool, variant: RedVariant) -> f64 {
    if p_b <= 0.0 || p_b >= 1.0 {
        return p_b.clamp(0.0, 1.0);
    }
    let middle = if wait { 1.5 / p_b } else { 0.5 / p_b };
    let mean = match (variant, wait) {
        (RedVariant::Red1993, _) => middle + 0.5,
        (RedVariant::Ns, true) => middle - 0.5,
        (RedVariant::Ns, false) => middle,
    };
    (1.0 / mean).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_red_is_the_inverse_of_the_mean_spacing() {
        // At p_b = 1/8: 1 to 8, 9 to 16, and in the variant ns 1 to 7, 8 to 15.
        let share = |wait, variant| red_drop_share(0.125, wait, variant);
        let close = |found: f64, mean: f64| assert!((1.0 / found - mean).abs() < 1e-12, "{found}");
        close(share(false, RedVariant::Red1993), 4.5);
        close(share(true, RedVariant::Red1993), 12.5);
        close(share(false, RedVariant::Ns), 4.0);
        close(share(true, RedVariant::Ns), 11.5);
        for (wait, variant) in [(true, RedVariant::Ns), (false, RedVariant::Red1993)] {
            assert_eq!(red_drop_share(0.0, wait, variant), 0.0);
            assert_eq!(red_drop_share(1.0, wait, variant), 1.0);
            let shares: Vec<f64> =
                (0..=1000).map(|i| red_drop_share(f64::from(i) / 1e3, wait, variant)).collect();
            assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
