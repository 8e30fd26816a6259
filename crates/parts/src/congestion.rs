//! Congestion controls that are compiled parts.

use crate::calls::State;
use crate::contract::{
    APP_LIMITED, Ack, CongestionTable, Control, DUPLICATE, ECHO, EVERY_ACK, GROW_UNUSED, Idle,
    KEEPS_SSTHRESH, Loss, LostSyn, NONE, Recovered, SCALABLE, Setup, Undo, VERSION, signed,
};
use crate::numbers::{self, number};
use airpath_core::{Duration, Ecn, Rate, StageError};
use airpath_tcp::EcnUse;
use airpath_tcp::congestion::{
    AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent,
};
use std::sync::Arc;

/// A failure of a compiled part.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {method}: {problem}")]
pub struct Failure {
    /// The part and its place in the network.
    pub place: String,
    /// Name of the function.
    pub method: &'static str,
    /// The problem.
    pub problem: String,
}

/// Returns the error for a function that has returned 0, from the place of the part and the name of
/// the function. Called on the thread that has called the function.
pub type FailureSource = dyn Fn(&str, &'static str) -> StageError + Send + Sync;

/// A congestion control whose functions are those of a compiled part.
pub struct CompiledCongestion {
    table: CongestionTable,
    state: State,
    mss: u64,
    values: Values,
    failure: Option<StageError>,
    about: Arc<About>,
}

/// What messages need.
struct About {
    place: String,
    failure: Arc<FailureSource>,
}

/// The values that the part has set, after their checks.
#[derive(Clone, Copy)]
struct Values {
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Option<Rate>,
}

impl Values {
    /// Returns the values of a record.
    ///
    /// # Errors
    /// Fails with the problem, for the message, if a value is outside its range.
    #[inline]
    fn of(control: &Control, mss: u64) -> Result<Values, String> {
        let Control { cwnd, ssthresh, pacing_rate, .. } = *control;
        const NO_VALUE: &str = "infinity";
        Ok(Values {
            cwnd: numbers::window(number(cwnd), mss, || shown(cwnd))?,
            ssthresh: numbers::ssthresh(number(ssthresh), NO_VALUE, || shown(ssthresh))?,
            pacing_rate: if pacing_rate == f64::INFINITY {
                None
            } else {
                let shown = || shown(pacing_rate);
                Some(numbers::pacing_rate(number(pacing_rate), NO_VALUE, shown)?)
            },
        })
    }
}

/// Returns a value as messages contain it.
fn shown(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

impl CompiledCongestion {
    /// Creates the congestion control of a connection.
    ///
    /// `initial` contains the first bytes of the state; without it, the state is 0 apart from the
    /// initial values of TCP. `place` names the part in messages. `failure` returns the error for a
    /// function that has returned 0.
    ///
    /// # Errors
    /// Fails if `init` fails, or if the values that it sets are outside their ranges.
    pub fn new(
        table: CongestionTable,
        setup: &CongestionSetup,
        initial: &[u8],
        place: String,
        failure: Arc<FailureSource>,
    ) -> Result<CompiledCongestion, StageError> {
        let setup = setup_record(setup);
        let mss = setup.mss as u64;
        let control = Control {
            size: Control::SIZE,
            version: VERSION,
            mss: setup.mss,
            cwnd: setup.initial_window as f64,
            ssthresh: optional(setup.initial_ssthresh),
            pacing_rate: f64::INFINITY,
        };
        let mut state = State::new(&table, control);
        state.fill(initial);
        let values = Values { cwnd: mss, ssthresh: u64::MAX, pacing_rate: None };
        let about = Arc::new(About { place, failure });
        let mut control = CompiledCongestion { table, state, mss, values, failure: None, about };
        let called = control.state.call(table.init, &setup).unwrap_or(true);
        control.take("start", called);
        control.failure.take().map_or(Ok(control), Err)
    }

    /// Takes over the values after a function; `called` is false if it has failed.
    #[inline]
    fn take(&mut self, method: &'static str, called: bool) {
        if !called {
            return self.fail(method, None);
        }
        match Values::of(self.state.control(), self.mss) {
            Ok(values) => self.values = values,
            Err(problem) => self.fail(method, Some(problem)),
        }
    }

    #[cold]
    fn fail(&mut self, method: &'static str, problem: Option<String>) {
        let About { place, failure } = &*self.about;
        self.failure = Some(match problem {
            Some(problem) => Failure { place: place.clone(), method, problem }.into(),
            None => failure(place, method),
        });
    }

    /// Calls a function that handles a loss, or `default` if it is null.
    fn lose(
        &mut self,
        method: &'static str,
        function: crate::contract::Function<Loss>,
        event: &LossEvent,
        default: impl FnOnce(&mut State, &CongestionTable, &Loss) -> bool,
    ) {
        if self.failure.is_some() {
            return;
        }
        let event = loss_record(event);
        let called = self.state.call(function, &event);
        let called = called.unwrap_or_else(|| default(&mut self.state, &self.table, &event));
        self.take(method, called);
    }

    /// Calls a function, or changes the values by `default` if it is null.
    fn change<E>(
        &mut self,
        method: &'static str,
        function: crate::contract::Function<E>,
        event: &E,
        default: impl FnOnce(&mut Control),
    ) {
        if self.failure.is_some() {
            return;
        }
        let called = self.state.call(function, event).unwrap_or_else(|| {
            default(self.state.control());
            true
        });
        self.take(method, called);
    }
}

/// Returns a number of bytes in double precision; infinity for [`NONE`].
fn optional(bytes: i64) -> f64 {
    if bytes == NONE { f64::INFINITY } else { bytes as f64 }
}

fn setup_record(setup: &CongestionSetup) -> Setup {
    let options = &setup.options;
    Setup {
        size: Setup::SIZE,
        version: VERSION,
        flags: if options.grow_unused { GROW_UNUSED } else { 0 },
        mss: i64::from(options.mss),
        header_bytes: i64::from(options.header_bytes),
        initial_window: signed(options.initial_window),
        initial_ssthresh: options.initial_ssthresh.map_or(NONE, signed),
        receive_window: signed(options.receive_window),
    }
}

#[inline]
fn ack_record(event: &AckEvent) -> Ack {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    Ack {
        size: Ack::SIZE,
        version: VERSION,
        flags: flag(event.duplicate, DUPLICATE)
            | flag(event.echo, ECHO)
            | flag(event.app_limited, APP_LIMITED),
        now_ns: signed(event.now.as_nanos()),
        growth: event.growth.map_or(NONE, signed),
        ack: signed(event.ack),
        sent: signed(event.sent),
        acked: signed(event.acked),
        delivered: signed(event.delivered),
        sacked: signed(event.sacked),
        in_flight: signed(event.in_flight),
        rtt_ns: event.rtt.map(Duration::as_nanos).map_or(NONE, signed),
        marked: signed(event.marked),
        feedback: f64::from(event.feedback),
    }
}

fn loss_record(event: &LossEvent) -> Loss {
    Loss {
        size: Loss::SIZE,
        version: VERSION,
        flags: if event.keeps_ssthresh { KEEPS_SSTHRESH } else { 0 },
        now_ns: signed(event.now.as_nanos()),
        flight: signed(event.flight),
        cwnd: signed(event.cwnd),
    }
}

/// Calls `on_loss`, which every part has.
fn as_loss(state: &mut State, table: &CongestionTable, event: &Loss) -> bool {
    state.call(table.on_loss, event).unwrap_or(false)
}

impl CongestionControl for CompiledCongestion {
    #[inline]
    fn on_ack(&mut self, event: &AckEvent) {
        if self.failure.is_some() {
            return;
        }
        let called = self.state.call(self.table.on_ack, &ack_record(event));
        self.take("on_ack", called.unwrap_or(false));
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.lose("on_loss", self.table.on_loss, event, |_, _, _| false);
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.lose("on_rto", self.table.on_rto, event, |state, table, loss| {
            let called = loss.flags & KEEPS_SSTHRESH != 0 || as_loss(state, table, loss);
            let control = state.control();
            control.cwnd = control.mss as f64;
            called
        });
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        self.lose("on_ecn", self.table.on_ecn, event, as_loss);
    }

    fn on_recovered(&mut self, cwnd: u64) {
        let event = Recovered { size: Recovered::SIZE, version: VERSION, cwnd: signed(cwnd) };
        self.change("on_recovered", self.table.on_recovered, &event, |control| {
            let is_set = control.ssthresh != f64::INFINITY;
            let left = if is_set { control.ssthresh } else { control.cwnd };
            control.cwnd = left.min(cwnd as f64).max(control.mss as f64);
        });
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        let event = Undo {
            size: Undo::SIZE,
            version: VERSION,
            now_ns: signed(event.now.as_nanos()),
            cwnd: signed(event.cwnd),
            ssthresh: signed(event.ssthresh),
        };
        self.change("on_undo", self.table.on_undo, &event, |control| {
            control.cwnd = control.cwnd.max(event.cwnd as f64);
            control.ssthresh = control.ssthresh.max(optional(event.ssthresh));
        });
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        let event = Idle {
            size: Idle::SIZE,
            version: VERSION,
            now_ns: signed(event.now.as_nanos()),
            cwnd: signed(event.cwnd),
            ssthresh: signed(event.ssthresh),
        };
        self.change("on_idle", self.table.on_idle, &event, |control| {
            control.cwnd = control.cwnd.min(event.cwnd as f64);
            control.ssthresh = control.ssthresh.max(event.ssthresh as f64);
        });
    }

    fn on_lost_syn(&mut self) {
        let event = LostSyn { size: LostSyn::SIZE, version: VERSION, flags: 0 };
        self.change("on_lost_syn", self.table.on_lost_syn, &event, |control| {
            control.cwnd = control.cwnd.min(control.mss as f64);
        });
    }

    fn on_negotiated(&mut self, _feedback: EcnUse) -> Ecn {
        if self.table.flags & SCALABLE != 0 { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.values.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.values.ssthresh
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.values.pacing_rate
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        self.table.flags & EVERY_ACK != 0
    }

    #[inline]
    fn take_error(&mut self) -> Option<StageError> {
        self.failure.take()
    }
}
