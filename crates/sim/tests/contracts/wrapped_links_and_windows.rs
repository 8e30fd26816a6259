//! Tests that a transparent wrapper around any link and around any receive-window policy does not
//! change results.
//!
//! Regression: a wrapper that did not forward control events kept the old rate and counted the
//! warm-up. A wrapper that did not forward `is_bounded` admitted segments beyond the window.

use crate::common::links::{link_files, links};
use crate::common::{MS, SECOND, datagrams, droptail, fixed, flow, run_with, scenario, tcp};
use airpath_aqm::Queue;
use airpath_conformance::samples;
use airpath_core::{Control, Ctx, Packet, Port, Stage, StageError, Time};
use airpath_link::{AnyLink, Link, SideReport, Sides};
use airpath_path::{Components, ReplicationReport};
use airpath_tcp::delegate_window;
use airpath_tcp::window::{AckSent, AnyWindow, Arrival, ReceiveWindow, WindowState};
use serde_json::{Value, json};

/// Link wrapper that delegates the required calls of a stage and keeps the default methods.
struct TransparentLink {
    inner: AnyLink,
}

impl Stage for TransparentLink {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.inner.receive(port, packet, ctx);
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        self.inner.wake(ctx);
    }
    fn next_wakeup(&self) -> Time {
        self.inner.next_wakeup()
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        self.inner.control(event, ctx);
    }
    fn held(&self) -> usize {
        self.inner.held()
    }
}

impl Link for TransparentLink {
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        self.inner.visit_queues(port, visit);
    }
    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        self.inner.on_queues_changed(port, ctx);
    }
    fn reports(&self, now: Time) -> Vec<SideReport> {
        self.inner.reports(now)
    }
}

/// Runs four seconds, measured after the first second. A link with a rate has half of it from 2.5 s
/// on. The PIE queue receives the rates.
fn over(link: &Value, inner: &Value, components: &Components) -> ReplicationReport {
    let mut queue = samples("aqm", "pie", |_| true).swap_remove(0);
    queue["kind"] = json!("pie");
    let halved = json!([{"at_ns": 2500 * MS, "action": {"kind": "rate", "rate_bps": 1_000_000}}]);
    let has_rate = inner.get("rate_bps").is_some();
    let change = json!({
        "warmup_ns": SECOND, "controls": if has_rate { halved } else { json!([]) },
        "ack_path": {"kind": "reverse", "link": null, "queue": queue}});
    let flows = vec![
        flow(tcp(json!({"recovery": "sack"})), json!({})),
        flow(tcp(json!({})), json!({"direction": "reverse"})),
        flow(datagrams("poisson", 1_000_000), json!({})),
    ];
    let scenario = scenario(4, flows, link.clone(), queue, change);
    run_with(&scenario, components, &link_files(), 1).report(0)
}

#[test]
fn a_transparent_link_wrapper_does_not_change_results() {
    let mut components = Components::default();
    for (name, sides) in [("around one", Sides::One), ("around both", Sides::Both)] {
        components.links.register_serving(sides, name, |parameters, setup| {
            Ok(Box::new(TransparentLink { inner: AnyLink::build(&parameters["inner"], setup)? }))
        });
    }
    for inner in links() {
        let sides = components.links.sides(&inner).expect("it names its kind");
        let name = if sides == Sides::One { "around one" } else { "around both" };
        let bare = over(&inner, &inner, &components);
        assert!(bare.packets > 200, "{inner}: {} packets say little", bare.packets);
        let mut wrapped = over(&json!({"kind": name, "inner": inner}), &inner, &components);
        // The number of events may differ, because the default methods split one call into two.
        wrapped.events = bare.events;
        assert_eq!(wrapped, bare, "around {inner}");
    }
}

/// Receive-window wrapper that delegates all calls.
struct TransparentWindow {
    inner: AnyWindow,
}

impl airpath_tcp::window::WindowWrapper for TransparentWindow {
    delegate_window!(inner);
}

/// Returns every built-in policy with the defaults of its Python class, and a slow reader that
/// reads at a part of the link rate.
fn policies() -> Vec<Value> {
    let usual = |(kind, _): &(&str, _)| {
        let mut policy = samples("window", kind, |_| true).swap_remove(0);
        policy["kind"] = json!(kind);
        policy
    };
    let mut all: Vec<Value> = AnyWindow::BUILT_IN.iter().map(usual).collect();
    all.push(json!({"kind": "drain", "rate_bps": 300_000, "start_ns": 2 * SECOND}));
    all
}

#[test]
fn a_transparent_window_wrapper_does_not_change_results() {
    let mut components = Components::default();
    components.windows.register("transparent", |parameters, setup| {
        Ok(Box::new(TransparentWindow { inner: AnyWindow::build(&parameters["inner"], setup)? }))
    });
    let report = |window: &Value| {
        let mut source = tcp(json!({"receive_window": 30_000}));
        source["window"] = window.clone();
        let mut link = fixed(2_000_000);
        link["loss"] = json!(0.01);
        let flows = vec![flow(source, json!({}))];
        let scenario = scenario(20, flows, link, droptail(20), json!({}));
        run_with(&scenario, &components, &link_files(), 1).report(0)
    };
    for window in policies() {
        let bare = report(&window);
        assert_eq!(report(&json!({"kind": "transparent", "inner": window})), bare, "{window}");
        let limited = bare.flows[0].rwnd_limited_share.expect("it was open");
        // The slow reader limits sending and the fixed window does not. Other policies may limit
        // it.
        match window["kind"].as_str() {
            Some("drain") => assert!(limited > 0.2, "{window}: {limited}"),
            Some("fixed") => assert!(limited <= 0.2, "{window}: {limited}"),
            _ => {}
        }
    }
}
