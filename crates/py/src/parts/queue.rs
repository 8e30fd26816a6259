//! Queue disciplines that are classes in Python.
//!
//! The packets are stored here; the methods of the object only decide about the packet that arrives
//! or is at the head. A method therefore cannot lose, duplicate or create a packet.

use super::numbers::{interval, probability, unknown_value, wakeup};
use super::queue_events::{Counts, QueueView};
use super::{
    Arrival, Call, CallError, Departure, LinkRateView, PartError, QueueObservation, QueueSetup,
    place,
};
use airpath_aqm::{Limit, QueueDisc, QueueState, TimedFifo};
use airpath_core::{
    Bytes, Ctx, DropReason, Duration, LinkRate, Packet, Setup, StageError, Stream, Time,
};
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Bound methods of the object. `None`: the class does not define the method.
struct Methods {
    on_arrival: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    on_rate: Option<Py<PyAny>>,
    probability: Option<Py<PyAny>>,
}

/// Decision of a method about a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Pass,
    /// Marks the packet if it is ECN-capable, and drops it otherwise.
    Mark,
    Drop(DropReason),
}

/// Drop probability of arrivals, which a method updates once per interval.
struct RandomDrops {
    interval: Duration,
    next: Time,
    probability: f64,
    /// Mark ECN-capable packets instead of dropping them.
    ecn: bool,
    stream: Stream,
}

/// A queue discipline whose methods are those of an object in Python.
struct PyQueue {
    place: String,
    object: Py<PyAny>,
    methods: Methods,
    limit: Limit,
    store: TimedFifo,
    held_packets: usize,
    held_bytes: Bytes,
    /// Expiry time of the timer of the object.
    wakeup: Time,
    random_drops: Option<RandomDrops>,
    last_sojourn: Option<Duration>,
    /// Packets since the previous observation.
    counts: Counts,
    failure: Option<PartError>,
}

/// The parameter that every discipline has.
#[derive(Deserialize)]
struct Common {
    limit: Limit,
}

/// Creates a queue discipline.
///
/// # Errors
/// Fails if the constructor or `start` of the class raises an exception, or sets an attribute to a
/// value that is not accepted.
pub(super) fn build(
    factory: &Py<PyAny>,
    parameters: &Value,
    setup: Setup<'_, dyn QueueDisc + Send>,
    kind: &str,
) -> Result<Box<dyn QueueDisc + Send>, PartError> {
    let place = place(kind, &setup.seed);
    Python::attach(|py| {
        let _call = Call::enter();
        build_attached(factory.bind(py), parameters, setup, &place)
            .map(|queue| Box::new(queue) as Box<dyn QueueDisc + Send>)
            .map_err(|error| error.of(&place, "start"))
    })
}

fn build_attached(
    factory: &Bound<'_, PyAny>,
    parameters: &Value,
    setup: Setup<'_, dyn QueueDisc + Send>,
    place: &str,
) -> Result<PyQueue, CallError> {
    let Common { limit } = Common::deserialize(parameters).map_err(crate::errors::json)?;
    let stream = setup.seed.child("probability").stream();
    let view = QueueSetup::new(factory.py(), limit, setup.seed)?;
    let object = factory.call_method1("create", (parameters.to_string(), view))?;
    let methods = Methods::read(factory, &object)?;
    let mut queue = PyQueue {
        place: place.to_owned(),
        wakeup: Time::NEVER,
        random_drops: None,
        limit,
        store: TimedFifo::default(),
        held_packets: 0,
        held_bytes: Bytes::ZERO,
        last_sojourn: None,
        counts: Counts::default(),
        failure: None,
        methods,
        object: object.clone().unbind(),
    };
    if queue.methods.on_timer.is_some() {
        queue.wakeup = read_wakeup(&object, Time::NEVER, Time::ZERO)?;
    }
    if queue.methods.probability.is_some() {
        queue.random_drops = Some(RandomDrops::read(&object, stream)?);
    }
    Ok(queue)
}

impl Methods {
    fn read(factory: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> PyResult<Methods> {
        let defined: BTreeSet<String> = factory.getattr("methods")?.extract()?;
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            defined.contains(name).then(|| object.getattr(name).map(Bound::unbind)).transpose()
        };
        Ok(Methods {
            on_arrival: method("on_arrival")?,
            on_overflow: method("on_overflow")?,
            on_departure: method("on_departure")?,
            on_timer: method("on_timer")?,
            on_rate: method("on_rate")?,
            probability: method("probability")?,
        })
    }
}

impl RandomDrops {
    fn read(object: &Bound<'_, PyAny>, stream: Stream) -> Result<RandomDrops, CallError> {
        let ecn = object.getattr("ecn").map_or(Ok(false), |value| value.extract())?;
        let interval = interval(&object.getattr("interval_ns")?).map_err(CallError::Value)?;
        Ok(RandomDrops { interval, next: Time::ZERO + interval, probability: 0.0, ecn, stream })
    }

    /// Decides about an arriving packet.
    fn decide(&mut self) -> Decision {
        match self.stream.bernoulli(self.probability) {
            true if self.ecn => Decision::Mark,
            true => Decision::Drop(DropReason::Early),
            false => Decision::Pass,
        }
    }
}

/// Reads the expiry time of the timer.
fn read_wakeup(object: &Bound<'_, PyAny>, last: Time, now: Time) -> Result<Time, CallError> {
    let value = object.getattr(intern!(object.py(), "next_wakeup_ns"))?;
    wakeup(&value, last, now).map_err(CallError::Value)
}

/// Converts the value that `on_arrival` has returned.
#[inline]
fn arrival_decision(value: &Bound<'_, PyAny>) -> Result<Decision, CallError> {
    const ACCEPTED: &str = "None, \"enqueue\", \"mark\", \"drop\" or \"overflow\"";
    if value.is_none() {
        return Ok(Decision::Pass);
    }
    match value.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
        Some("enqueue") => Ok(Decision::Pass),
        Some("mark") => Ok(Decision::Mark),
        Some("drop") => Ok(Decision::Drop(DropReason::Early)),
        Some("overflow") => Ok(Decision::Drop(DropReason::Overflow)),
        _ => Err(CallError::Value(unknown_value(value, ACCEPTED))),
    }
}

/// Converts the value that `on_departure` has returned.
#[inline]
fn departure_decision(value: &Bound<'_, PyAny>) -> Result<Decision, CallError> {
    const ACCEPTED: &str = "None, \"send\", \"mark\" or \"drop\"";
    if value.is_none() {
        return Ok(Decision::Pass);
    }
    match value.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
        Some("send") => Ok(Decision::Pass),
        Some("mark") => Ok(Decision::Mark),
        Some("drop") => Ok(Decision::Drop(DropReason::Early)),
        _ => Err(CallError::Value(unknown_value(value, ACCEPTED))),
    }
}

impl PyQueue {
    /// Calls a method that the class defines, and returns the converted result. Returns `None` if
    /// the class does not define the method, and after a failure. Then reads the timer.
    #[inline]
    fn call<A, T>(
        &mut self,
        name: &'static str,
        method: impl FnOnce(&Methods) -> &Option<Py<PyAny>>,
        now: Time,
        arguments: A,
        convert: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, CallError>,
    ) -> Option<T>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let bound = method(&self.methods).as_ref().filter(|_| self.failure.is_none())?;
        let called = Python::attach(|py| {
            let _call = Call::enter();
            let result = convert(&bound.bind(py).call1(arguments)?)?;
            if self.methods.on_timer.is_some() {
                self.wakeup = read_wakeup(self.object.bind(py), self.wakeup, now)?;
            }
            Ok(result)
        });
        called.map_err(|error: CallError| self.failure = Some(error.of(&self.place, name))).ok()
    }

    #[inline]
    fn view(&self, now: Time) -> QueueView {
        QueueView {
            now,
            packets: self.store.len(),
            backlog: self.store.backlog().0,
            held_packets: self.held_packets,
            held_bytes: self.held_bytes.0,
            head_sojourn: self.store.oldest().map(|(arrived, _)| now.saturating_since(arrived)),
        }
    }

    /// Returns true if the limit admits an arriving packet.
    #[inline]
    fn admits(&self, packet: &Packet) -> bool {
        let occupancy = self.store.len() + self.held_packets;
        self.limit.admits(packet, occupancy, self.store.backlog() + self.held_bytes)
    }

    /// Decides about an arriving packet.
    #[inline]
    fn decide_arrival(&mut self, packet: &Packet, now: Time) -> Decision {
        if let Some(random_drops) = &mut self.random_drops {
            return random_drops.decide();
        }
        if self.methods.on_arrival.is_none() {
            return Decision::Pass;
        }
        let event = Arrival::new(packet, self.view(now));
        self.call("on_arrival", |m| &m.on_arrival, now, (event,), arrival_decision)
            .unwrap_or(Decision::Pass)
    }

    /// Decides about the packet at the head, and marks or drops it. Returns false if the packet was
    /// dropped.
    fn pass_head(&mut self, drops: u32, ctx: &mut Ctx<'_>) -> bool {
        let Some((arrived, head)) = self.store.oldest() else { return true };
        let sojourn = ctx.now.saturating_since(arrived);
        let event = Departure::new(head, sojourn, drops, self.view(ctx.now));
        let decision =
            self.call("on_departure", |m| &m.on_departure, ctx.now, (event,), departure_decision);
        let Some(head) = self.store.front_mut() else { return true };
        match decision.unwrap_or(Decision::Pass) {
            Decision::Pass => true,
            Decision::Mark if head.ecn.is_capable() => {
                ctx.mark(head);
                self.counts.marks += 1;
                true
            }
            Decision::Mark | Decision::Drop(_) => {
                if let Some((_, packet)) = self.store.pop() {
                    self.drop(packet, DropReason::Early, ctx);
                }
                false
            }
        }
    }

    fn drop(&mut self, packet: Packet, reason: DropReason, ctx: &mut Ctx<'_>) {
        self.counts.drops += 1;
        ctx.drop(packet, reason);
    }

    /// Returns the state of the queue, and restarts the counts.
    fn observe(&mut self, now: Time) -> QueueObservation {
        let (queue, last_sojourn) = (self.view(now), self.last_sojourn);
        QueueObservation { queue, last_sojourn, counts: std::mem::take(&mut self.counts) }
    }

    /// Updates the probability of random drops.
    fn update_probability(&mut self, now: Time) {
        let event = self.observe(now);
        let found = self.call(
            "probability",
            |m| &m.probability,
            now,
            (event,),
            |value| probability(value).map_err(CallError::Value),
        );
        let random_drops = self.random_drops.as_mut().expect("its timer has expired");
        random_drops.probability = found.unwrap_or(0.0);
        random_drops.next = now + random_drops.interval;
    }

    /// Resets the timer, and calls `on_timer`.
    fn expire(&mut self, now: Time) {
        self.wakeup = Time::NEVER;
        let reset = Python::attach(|py| self.object.setattr(py, "next_wakeup_ns", py.None()));
        if let Err(error) = reset {
            self.failure = Some(CallError::Raised(error).of(&self.place, "on_timer"));
        }
        let event = self.observe(now);
        self.call("on_timer", |m| &m.on_timer, now, (event,), |_| Ok(()));
    }
}

impl QueueDisc for PyQueue {
    #[inline]
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.counts.arrivals += 1;
        self.counts.arrived_bytes += u64::from(packet.size);
        if !self.admits(packet) {
            self.drop(*packet, DropReason::Overflow, ctx);
            let event = Arrival::new(packet, self.view(ctx.now));
            self.call("on_overflow", |m| &m.on_overflow, ctx.now, (event,), |_| Ok(()));
            return;
        }
        match self.decide_arrival(packet, ctx.now) {
            Decision::Pass => _ = self.store.push(packet, ctx.now),
            Decision::Mark if packet.ecn.is_capable() => {
                self.counts.marks += 1;
                ctx.mark(self.store.push(packet, ctx.now));
            }
            Decision::Mark => self.drop(*packet, DropReason::Early, ctx),
            Decision::Drop(reason) => self.drop(*packet, reason, ctx),
        }
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.methods.on_departure.is_some() {
            let mut drops = 0;
            while !self.pass_head(drops, ctx) {
                drops += 1;
            }
        }
        let Some((arrived, head)) = self.store.oldest() else { return false };
        self.last_sojourn = Some(ctx.now.saturating_since(arrived));
        self.counts.departures += 1;
        self.counts.departed_bytes += u64::from(head.size);
        self.store.pop_into(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.store.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        let update = self.random_drops.as_ref().map_or(Time::NEVER, |drops| drops.next);
        QueueState { next_wakeup: self.wakeup.min(update), ..self.store.state() }
    }

    fn on_bypass(&mut self, packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.admits(packet)
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.random_drops.as_ref().is_some_and(|drops| drops.next <= ctx.now) {
            self.update_probability(ctx.now);
        }
        if self.wakeup <= ctx.now {
            self.expire(ctx.now);
        }
    }

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        let event = LinkRateView(rate);
        self.call("on_rate", |m| &m.on_rate, ctx.now, (event,), |_| Ok(()));
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        (self.held_packets, self.held_bytes) = (packets, bytes);
    }

    fn take_error(&mut self) -> Option<StageError> {
        self.failure.take().map(Into::into)
    }
}
