//! A toy queue discipline that wraps any other discipline, built from its description. A timer
//! drops packets that have waited for `max_age`.

use crate::common::{MS, SECOND, datagrams, droptail, fixed, flow, run_with, scenario};
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{
    Bytes, ConfigError, Ctx, DropReason, Duration, LinkRate, Packet, Series, Setup, StageError,
    Time,
};
use airpath_path::{Components, build};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgingConfig {
    max_age_ns: u64,
    inner: Value,
}

struct Aging {
    max_age: Duration,
    inner: AnyQueue,
}

impl Aging {
    fn build(
        parameters: &Value,
        setup: Setup<'_, dyn QueueDisc + Send>,
    ) -> Result<Aging, ConfigError> {
        let config: AgingConfig = airpath_core::registry::read_config(parameters)?;
        let max_age = Duration::from_nanos(config.max_age_ns);
        let inner = Setup { seed: setup.seed.child("inner"), ..setup };
        let inner = AnyQueue::build(&config.inner, inner).map_err(|error| error.under("inner"))?;
        Ok(Aging { max_age, inner })
    }

    /// Returns the time at which the head packet reaches `max_age`.
    fn head_due(&self) -> Time {
        let queued_at = self.inner.peek().and_then(Packet::queued_at);
        queued_at.map_or(Time::NEVER, |queued_at| queued_at + self.max_age)
    }
}

impl airpath_aqm::QueueWrapper for Aging {
    delegate_queue!(inner: enqueue, dequeue_into, peek, on_bypass, on_rate, on_served);
    delegate_queue!(inner: on_lost, on_held, measured, restart_measurement, take_error);

    fn state(&self) -> QueueState {
        let inner = self.inner.state();
        QueueState { next_wakeup: self.head_due().min(inner.next_wakeup), ..inner }
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.inner.next_wakeup() <= ctx.now {
            self.inner.on_wake(ctx);
        }
        while self.head_due() <= ctx.now
            && let Some(packet) = self.inner.dequeue(ctx)
        {
            ctx.drop(packet, DropReason::Early);
        }
    }
}

/// Registers the discipline as `aging`.
pub(crate) fn register(components: &mut Components) {
    components
        .queues
        .register("aging", |parameters, setup| Ok(Box::new(Aging::build(parameters, setup)?)));
}

/// Returns the description of `aging` around `inner`.
pub(crate) fn description(max_age_ns: u64, inner: Value) -> Value {
    json!({"kind": "aging", "max_age_ns": max_age_ns, "inner": inner})
}

fn components() -> Components {
    let mut components = Components::default();
    register(&mut components);
    components
}

/// A packet of 120 ms at 100 kbit/s arrives each 100 ms, so the sojourn time grows by 20 ms per
/// packet. The timer drops a packet that has waited for 50 ms, while another packet is in
/// transmission.
#[test]
fn timer_drops_packets_while_the_link_is_busy() {
    let queue = description(50 * MS, droptail(100));
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"stop_ns": SECOND}))];
    let record = json!({"record": {"series": ["drop", "sojourn"]}});
    let scenario = scenario(5, flows, fixed(100_000), queue, record);
    let driver = run_with(&scenario, &components(), &Arc::default(), 1);
    let report = driver.report(0);
    let recorder = driver.into_recorder();
    let drops: Vec<u64> =
        recorder.samples(Series::Drop).iter().map(|drop| drop.time.as_nanos() / MS).collect();
    // Transmissions, ms (sojourn time in parentheses): 0–120, 120–240 (20), 240–360 (40). The
    // packet of 300 ms would start at 360 ms and is dropped at 350 ms. Then 400–520, 520–640 (20),
    // 640–760 (40); the packet of 700 ms is dropped at 750 ms. Then 800–920, 920–1040.
    assert_eq!(drops, [350, 750]);
    let longest = recorder.samples(Series::Sojourn).iter().map(|s| s.value).fold(0.0, f64::max);
    assert_eq!(longest, 0.04);
    assert_eq!((report.packets, report.queues[0].drops["early"]), (8, 2));
}

#[test]
fn aging_wraps_itself_and_built_in_disciplines() {
    let gred = json!({"kind": "gred", "min_th": 2, "max_th": 5, "max_p": 0.5});
    for inner in [gred, description(SECOND, droptail(5))] {
        let queue = description(30 * SECOND, inner);
        let flows = vec![flow(datagrams("poisson", 2_000_000), json!({}))];
        let scenario = scenario(20, flows, fixed(1_000_000), queue, json!({}));
        let report = run_with(&scenario, &components(), &Arc::default(), 1).report(0);
        let drops: u64 = report.queues[0].drops.values().sum();
        assert!(drops > 500, "{report:?}");
        assert!(report.links[0].utilisation > 0.95, "{report:?}");
    }
}

#[test]
fn an_error_of_the_inner_discipline_names_its_path() {
    let queue = description(SECOND, description(SECOND, json!({"kind": "fq"})));
    let flows = vec![flow(datagrams("cbr", 1000), json!({}))];
    let scenario = scenario(1, flows, fixed(1000), queue, json!({}));
    let error = build(&scenario, &components(), &Arc::default(), 1, 0).err().expect("an error");
    let built_in: Vec<&str> = AnyQueue::BUILT_IN.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        error.to_string(),
        format!(
            "bottleneck.queue.inner.inner.kind = fq: unknown. Accepted: {}, aging",
            built_in.join(", ")
        )
    );
}

/// The timer continues while the link is stopped and when its rate changes.
#[test]
fn timer_continues_while_the_rate_is_zero() {
    let queue = description(500 * MS, droptail(100));
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"stop_ns": 2 * SECOND}))];
    let rate = |at_ms: u64, rate_bps: u64| json!({"at_ns": at_ms * MS, "action": {"kind": "rate", "rate_bps": rate_bps}});
    let change = json!({"record": {"series": ["drop"]},
                        "controls": [rate(1050, 0), rate(1750, 0), rate(3050, 5_000_000)]});
    let scenario = scenario(5, flows, fixed(10_000_000), queue, change);
    let driver = run_with(&scenario, &components(), &Arc::default(), 1);
    let report = driver.report(0);
    let recorder = driver.into_recorder();
    let drops: Vec<u64> =
        recorder.samples(Series::Drop).iter().map(|drop| drop.time.as_nanos() / MS).collect();
    // The packet of 1100 ms starts its transmission at rate 0 and stays until 3050 ms; the packets
    // after it reach the maximum age.
    assert_eq!(drops, [1700, 1800, 1900, 2000, 2100, 2200, 2300, 2400]);
    assert_eq!(report.packets, 12);
}
