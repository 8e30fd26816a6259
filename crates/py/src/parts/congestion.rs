//! Congestion controls that are classes in Python.

use super::numbers::{pacing_rate, ssthresh, window};
use super::{
    Ack, Call, CallError, CongestionSetupView, Idle, Loss, LostSegmentEvent, Open, PartError, Sent,
    Undo, place,
};
use airpath_core::{Duration, Ecn, Rate, Setup, StageError, Time};
use airpath_tcp::EcnUse;
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, CongestionControl, CongestionSetup, IdleEvent, LossEvent, LostSegment,
    UndoEvent,
};
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A bound method of the part's object, with its name.
struct Method {
    name: &'static str,
    bound: Py<PyAny>,
}

/// The methods of the object. `None`: the class does not define the method, and the engine does not
/// call it.
struct Methods {
    on_ack: Method,
    on_loss: Method,
    on_rto: Method,
    on_recovered: Method,
    on_undo: Method,
    on_ecn: Method,
    on_idle: Method,
    on_lost_syn: Method,
    on_open: Option<Method>,
    on_segment_lost: Option<Method>,
    on_sent: Option<Method>,
}

/// Properties of the class.
struct Properties {
    every_ack: bool,
    rate_samples: bool,
    sets_window_in_recovery: bool,
    scalable: bool,
}

/// A congestion control whose methods are those of an object in Python.
struct PyCongestion {
    place: String,
    object: Py<PyAny>,
    methods: Methods,
    properties: Properties,
    mss: u64,
    state: State,
    failure: Option<PartError>,
}

/// Attributes of the object that the engine reads after each call.
#[derive(Clone, Copy)]
struct State {
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Option<Rate>,
    limits_itself: bool,
}

/// Creates the congestion control of a connection.
///
/// # Errors
/// Fails if the constructor or `start` of the class raises an exception, or if the object has no
/// valid window after `start`.
pub(super) fn build(
    factory: &Py<PyAny>,
    parameters: &Value,
    setup: Setup<'_, dyn CongestionControl + Send, CongestionSetup>,
    kind: &str,
) -> Result<Box<dyn CongestionControl + Send>, PartError> {
    let place = place(kind, &setup.seed);
    let mss = u64::from(setup.extra.options.mss);
    Python::attach(|py| {
        let raised = |error| PartError::Raised { place: place.clone(), method: "start", error };
        let _call = Call::enter();
        let factory = factory.bind(py);
        let object = CongestionSetupView::new(py, setup.extra, setup.seed)
            .and_then(|view| factory.call_method1("create", (parameters.to_string(), view)))
            .map_err(raised)?;
        let mut control = read_class(factory, object, &place, mss).map_err(raised)?;
        let state = State::read(control.object.bind(py), mss, &control.properties);
        control.take("start", state);
        match control.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(Box::new(control) as Box<dyn CongestionControl + Send>),
        }
    })
}

/// Looks up the methods of the object and the properties of its class.
fn read_class(
    factory: &Bound<'_, PyAny>,
    object: Bound<'_, PyAny>,
    place: &str,
    mss: u64,
) -> PyResult<PyCongestion> {
    let defined: BTreeSet<String> = factory.getattr("methods")?.extract()?;
    let method = |name: &'static str| {
        object.getattr(name).map(|bound| Method { name, bound: bound.unbind() })
    };
    let optional = |name: &'static str| defined.contains(name).then(|| method(name)).transpose();
    let class = object.get_type();
    let property = |name: &str| class.getattr(name)?.extract::<bool>();
    Ok(PyCongestion {
        place: place.to_owned(),
        methods: Methods {
            on_ack: method("on_ack")?,
            on_loss: method("on_loss")?,
            on_rto: method("on_rto")?,
            on_recovered: method("on_recovered")?,
            on_undo: method("on_undo")?,
            on_ecn: method("on_ecn")?,
            on_idle: method("on_idle")?,
            on_lost_syn: method("on_lost_syn")?,
            on_open: optional("on_open")?,
            on_segment_lost: optional("on_segment_lost")?,
            on_sent: optional("on_sent")?,
        },
        properties: Properties {
            every_ack: property("every_ack")?,
            rate_samples: property("rate_samples")?,
            sets_window_in_recovery: property("sets_window_in_recovery")?,
            scalable: property("scalable")?,
        },
        object: object.unbind(),
        mss,
        state: State { cwnd: mss, ssthresh: u64::MAX, pacing_rate: None, limits_itself: false },
        failure: None,
    })
}

impl State {
    /// Reads the attributes of an object.
    #[inline]
    fn read(
        object: &Bound<'_, PyAny>,
        mss: u64,
        properties: &Properties,
    ) -> Result<State, CallError> {
        let py = object.py();
        let cwnd = object.getattr(intern!(py, "cwnd"))?;
        let threshold = object.getattr(intern!(py, "ssthresh"))?;
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        Ok(State {
            cwnd: window(&cwnd, mss).map_err(CallError::Value)?,
            ssthresh: ssthresh(&threshold).map_err(CallError::Value)?,
            pacing_rate: pacing_rate(&rate).map_err(CallError::Value)?,
            limits_itself: properties.rate_samples
                && object.getattr(intern!(py, "limits_itself"))?.extract()?,
        })
    }
}

impl PyCongestion {
    /// Calls a method and reads the state of the object. Does nothing after a failure.
    #[inline]
    fn call<A>(&mut self, method: impl FnOnce(&Methods) -> &Method, arguments: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        if self.failure.is_some() {
            return;
        }
        let Method { name, bound } = method(&self.methods);
        let called = Python::attach(|py| {
            let _call = Call::enter();
            bound.bind(py).call1(arguments)?;
            State::read(self.object.bind(py), self.mss, &self.properties)
        });
        let method = *name;
        self.take(method, called);
    }

    /// Calls a method as [`call`](Self::call) does, if the class defines it.
    #[inline]
    fn call_defined<A>(&mut self, method: impl Fn(&Methods) -> &Option<Method>, arguments: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        if method(&self.methods).is_some() {
            self.call(|methods| method(methods).as_ref().expect("it is defined"), arguments);
        }
    }

    /// Stores the result of a call of `method`.
    #[inline]
    fn take(&mut self, method: &'static str, called: Result<State, CallError>) {
        match called {
            Ok(state) => self.state = state,
            Err(error) => self.failure = Some(error.of(&self.place, method)),
        }
    }
}

impl CongestionControl for PyCongestion {
    #[inline]
    fn on_ack(&mut self, event: &AckEvent) {
        self.call(|methods| &methods.on_ack, (Ack(*event),));
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.call(|methods| &methods.on_loss, (Loss(*event),));
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.call(|methods| &methods.on_rto, (Loss(*event),));
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.call(|methods| &methods.on_recovered, (cwnd,));
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.call(|methods| &methods.on_undo, (Undo(*event),));
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        self.call(|methods| &methods.on_ecn, (Loss(*event),));
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.call(|methods| &methods.on_idle, (Idle(*event),));
    }

    fn on_lost_syn(&mut self) {
        self.call(|methods| &methods.on_lost_syn, ());
    }

    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        self.call_defined(|methods| &methods.on_open, (Open { now, rtt },));
    }

    fn on_segment_lost(&mut self, segment: &LostSegment) {
        self.call_defined(|methods| &methods.on_segment_lost, (LostSegmentEvent(*segment),));
    }

    #[inline]
    fn on_sent(&mut self, now: Time, bytes: u64) {
        self.call_defined(|methods| &methods.on_sent, (Sent { now, bytes },));
    }

    fn on_negotiated(&mut self, _feedback: EcnUse) -> Ecn {
        if self.properties.scalable { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.state.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.state.ssthresh
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.state.pacing_rate
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        self.properties.every_ack
    }

    fn needs_rate_samples(&self) -> bool {
        self.properties.rate_samples
    }

    fn limits_itself(&self) -> bool {
        self.state.limits_itself
    }

    fn sets_window_in_recovery(&self) -> bool {
        self.properties.sets_window_in_recovery
    }

    #[inline]
    fn take_error(&mut self) -> Option<StageError> {
        self.failure.take().map(Into::into)
    }
}

/// A built-in congestion control, for parts that contain one.
///
/// Its methods have the names and events of a part's methods. `cwnd` and `ssthresh` are in bytes.
#[pyclass(frozen, name = "BuiltInCongestion", module = "airpath.parts")]
pub(crate) struct BuiltInCongestion(Mutex<AnyCongestion>);

impl BuiltInCongestion {
    pub(super) fn new(inner: AnyCongestion) -> BuiltInCongestion {
        BuiltInCongestion(Mutex::new(inner))
    }

    fn with<T>(&self, call: impl FnOnce(&mut AnyCongestion) -> T) -> T {
        call(&mut self.0.lock().expect("no thread panics with the lock"))
    }
}

#[pymethods]
impl BuiltInCongestion {
    /// Handle an ACK.
    fn on_ack(&self, ack: &Ack) {
        self.with(|inner| inner.on_ack(&ack.0));
    }

    /// Handle a fast retransmit.
    fn on_loss(&self, loss: &Loss) {
        self.with(|inner| inner.on_loss(&loss.0));
    }

    /// Handle an expiry of the retransmission timer.
    fn on_rto(&self, loss: &Loss) {
        self.with(|inner| inner.on_rto(&loss.0));
    }

    /// Handle the end of fast recovery. `cwnd` is the largest window that the recovery allows.
    fn on_recovered(&self, cwnd: u64) {
        self.with(|inner| inner.on_recovered(cwnd));
    }

    /// Handle the detection that the reductions of an episode were spurious.
    fn on_undo(&self, undo: &Undo) {
        self.with(|inner| inner.on_undo(&undo.0));
    }

    /// Handle echoed congestion marks.
    fn on_ecn(&self, loss: &Loss) {
        self.with(|inner| inner.on_ecn(&loss.0));
    }

    /// Handle the resumption of transmission after an idle time.
    fn on_idle(&self, idle: &Idle) {
        self.with(|inner| inner.on_idle(&idle.0));
    }

    /// Handle the loss of the SYN or SYN-ACK.
    fn on_lost_syn(&self) {
        self.with(CongestionControl::on_lost_syn);
    }

    /// Handle the start of data transmission.
    fn on_open(&self, opening: &Open) {
        self.with(|inner| inner.on_open(opening.now, opening.rtt));
    }

    /// Handle a segment that is deemed lost.
    fn on_segment_lost(&self, segment: &LostSegmentEvent) {
        self.with(|inner| inner.on_segment_lost(&segment.0));
    }

    /// Handle the transmission of a packet.
    fn on_sent(&self, sent: &Sent) {
        self.with(|inner| inner.on_sent(sent.now, sent.bytes));
    }

    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.with(|inner| inner.cwnd())
    }

    /// Slow-start threshold, bytes; None if it was not set.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        let bytes = self.with(|inner| inner.ssthresh());
        (bytes != u64::MAX).then_some(bytes)
    }

    /// True while the algorithm deliberately sends less than the path allows.
    #[getter]
    fn limits_itself(&self) -> bool {
        self.with(|inner| inner.limits_itself())
    }

    /// Pacing rate, bit/s; None without pacing.
    #[getter]
    fn pacing_rate(&self) -> Option<u64> {
        self.with(|inner| inner.pacing_rate()).map(|rate| rate.0)
    }
}
