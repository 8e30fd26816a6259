//! Registry of links, one line each.

use crate::context::LinkContext;
use crate::link::{Link, SideReport, Sides};
use crate::links::adaptive::Adaptive;
use crate::links::cell::Cell;
use crate::links::fixed::Fixed;
use crate::links::mimo::Mimo;
use crate::links::multi_regime::MultiRegime;
use crate::links::rate_trace::RateTraceTransmitter;
use crate::links::rlc::RlcAm;
use crate::links::serial::SerialLink;
use crate::links::tdd::Tdd;
use crate::links::trace::TraceLink;
use airpath_aqm::Queue;
use airpath_core::registry::split_kind;
use airpath_core::{
    ConfigError, Control, Ctx, Packet, Port, Registry, Setup, Stage, Time, built_in_components,
};
use serde_json::Value;
use std::collections::BTreeMap;

built_in_components! {
    /// Any link.
    enum AnyLink: dyn Link + Send, LinkContext {
        "fixed" => Fixed(SerialLink<Fixed>): "Constant rate, Bernoulli loss.",
        "multi-regime" => MultiRegime(SerialLink<MultiRegime>):
            "Queue-aware link adaptation: rate and error rate chosen by the queue length.",
        "adaptive" => Adaptive(SerialLink<Adaptive>):
            "Link adaptation: a policy selects the MCS from SNR, error-rate table and queue.",
        "mimo" => Mimo(SerialLink<Mimo>):
            "MIMO fading link: two states of the SNR, antennas, Reed-Solomon codes of packets.",
        "trace" => Trace(TraceLink): "Delivery opportunities of a recorded trace (Mahimahi).",
        "rate-trace" => RateTrace(SerialLink<RateTraceTransmitter>):
            "Piecewise-constant rate from a time,rate file.",
        "cell" => Cell(Cell): "A fading cell: slots, a queue for each user, a scheduler.",
        "ofdma-tdd" => Tdd(Tdd): "Frames of 802.16: stations request uplink bandwidth.",
        "rlc-am" => RlcAm(RlcAm): "3G radio bearer: RLC acknowledged mode, both directions.",
    }
}

/// Links registered at run time. A copy shares the link factories.
#[derive(Clone, Default)]
pub struct LinkRegistry {
    links: Registry<dyn Link + Send, LinkContext>,
    /// Maps the name of a link to its directions. The map does not contain links that serve exactly
    /// one direction.
    sides: BTreeMap<String, Sides>,
}

impl LinkRegistry {
    /// Registers the link `name`, which serves one direction. Replaces an existing link with that
    /// name.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        factory: impl Fn(
            &Value,
            Setup<'_, dyn Link + Send, LinkContext>,
        ) -> Result<Box<dyn Link + Send>, ConfigError>
        + Send
        + Sync
        + 'static,
    ) {
        self.register_serving(Sides::One, name, factory);
    }

    /// Registers a link that serves the directions `sides`.
    pub fn register_serving(
        &mut self,
        sides: Sides,
        name: impl Into<String>,
        factory: impl Fn(
            &Value,
            Setup<'_, dyn Link + Send, LinkContext>,
        ) -> Result<Box<dyn Link + Send>, ConfigError>
        + Send
        + Sync
        + 'static,
    ) {
        let name = name.into();
        self.sides.insert(name.clone(), sides);
        self.links.register(name, factory);
    }

    /// Declares that links with the name `name` share no state that changes during a run
    /// ([`Registry::declare_independent`]).
    pub fn declare_independent(&mut self, name: impl Into<String>) {
        self.links.declare_independent(name);
    }

    /// The link factories.
    pub fn links(&self) -> &Registry<dyn Link + Send, LinkContext> {
        &self.links
    }

    /// Returns the directions that the link of `description` (`{"kind": …}`) will serve.
    ///
    /// # Errors
    /// If the description contains no kind. [`AnyLink::build`] reports an unknown kind.
    pub fn sides(&self, description: &Value) -> Result<Sides, ConfigError> {
        let (kind, _) = split_kind(description)?;
        let built_in = component_named!(kind.as_str(), Kind => Kind::sides());
        Ok(built_in.or_else(|| self.sides.get(&kind).copied()).unwrap_or_default())
    }
}

impl AnyLink {
    /// Returns true if the link of `description` has a loss probability that can be changed. False
    /// for a plug-in.
    pub fn has_loss(description: &Value) -> bool {
        let kind = description.get("kind").and_then(Value::as_str).unwrap_or_default();
        component_named!(kind, Kind => Kind::has_loss()).unwrap_or(false)
    }
}

impl Stage for AnyLink {
    #[inline]
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        each_component!(self, link => link.receive(port, packet, ctx));
    }
    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        each_component!(self, link => link.wake(ctx));
    }
    #[inline]
    fn next_wakeup(&self) -> Time {
        each_component!(self, link => link.next_wakeup())
    }
    #[inline]
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        usual_component_first!(self, link => link.wake_then_next(ctx))
    }
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        usual_component_first!(self, link => link.receive_then_next(port, packet, ctx))
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        each_component!(self, link => link.control(event, ctx));
    }
    fn held(&self) -> usize {
        each_component!(self, link => link.held())
    }
}

impl Link for AnyLink {
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        each_component!(self, link => link.visit_queues(port, visit));
    }
    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>) {
        each_component!(self, link => link.on_queues_changed(port, ctx));
    }
    fn reports(&self, now: Time) -> Vec<SideReport> {
        each_component!(self, link => link.reports(now))
    }
}
