//! A part that is written with the contract in C: Reno of RFC 5681 with byte counting.
#![allow(unsafe_code)]

use crate::contract::{
    APP_LIMITED, Ack, CongestionTable, Control, GROW_UNUSED, KEEPS_SSTHRESH, Loss, NONE, Setup,
    VERSION,
};
use crate::{CompiledCongestion, Failure, TableError};
use airpath_core::{Duration, Time};
use airpath_tcp::TcpConfig;
use airpath_tcp::congestion::{
    AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, Reno, UndoEvent,
};
use std::ffi::c_void;
use std::sync::Arc;

/// State of the part.
#[repr(C)]
struct RenoState {
    control: Control,
    credit: i64,
    grow_unused: i64,
}

fn of<'a>(state: *mut c_void) -> &'a mut RenoState {
    // SAFETY: the host passes a state of the size that the table demands.
    unsafe { &mut *state.cast::<RenoState>() }
}

fn event<'a, E>(event: *const E) -> &'a E {
    // SAFETY: the host passes a valid event.
    unsafe { &*event }
}

extern "C" fn init(state: *mut c_void, setup: *const Setup) -> i32 {
    of(state).grow_unused = i64::from(event(setup).flags & GROW_UNUSED != 0);
    1
}

extern "C" fn on_ack(state: *mut c_void, ack: *const Ack) -> i32 {
    let (state, ack) = (of(state), event(ack));
    let is_unused = ack.flags & APP_LIMITED != 0 && state.grow_unused == 0;
    if ack.growth == NONE || is_unused {
        return 1;
    }
    let control = &mut state.control;
    if control.cwnd < control.ssthresh {
        control.cwnd += ack.growth.min(control.mss) as f64;
        return 1;
    }
    state.credit += ack.growth;
    if state.credit as f64 >= control.cwnd {
        state.credit -= control.cwnd as i64;
        control.cwnd += control.mss as f64;
    }
    1
}

extern "C" fn on_loss(state: *mut c_void, loss: *const Loss) -> i32 {
    let (state, loss) = (of(state), event(loss));
    state.control.ssthresh = (loss.flight / 2).max(2 * state.control.mss) as f64;
    state.control.cwnd = state.control.ssthresh;
    state.credit = 0;
    1
}

extern "C" fn on_rto(state: *mut c_void, loss: *const Loss) -> i32 {
    let mss = of(state).control.mss;
    if event(loss).flags & KEEPS_SSTHRESH == 0 {
        on_loss(state, loss);
    }
    of(state).control.cwnd = mss as f64;
    of(state).credit = 0;
    1
}

extern "C" fn on_ecn(state: *mut c_void, loss: *const Loss) -> i32 {
    let cwnd = of(state).control.cwnd;
    on_loss(state, loss);
    of(state).control.cwnd = cwnd.min(of(state).control.ssthresh);
    1
}

fn reno_table() -> CongestionTable {
    CongestionTable {
        size: CongestionTable::SIZE,
        version: VERSION,
        flags: 0,
        state_size: size_of::<RenoState>() as u64,
        state_align: 8,
        init: Some(init),
        on_ack: Some(on_ack),
        on_loss: Some(on_loss),
        on_rto: Some(on_rto),
        on_recovered: None,
        on_undo: None,
        on_ecn: Some(on_ecn),
        on_idle: None,
        on_lost_syn: None,
    }
}

fn setup() -> CongestionSetup {
    let options = TcpConfig { mss: 1000, initial_window: 4000, ..TcpConfig::rfc() };
    CongestionSetup { options: options.into() }
}

fn compiled(table: CongestionTable) -> CompiledCongestion {
    let failed = |place: &str, method| {
        Failure { place: place.to_owned(), method, problem: "failed".to_owned() }.into()
    };
    CompiledCongestion::new(table, &setup(), &[], "part".to_owned(), Arc::new(failed)).unwrap()
}

/// A sequence of 20,000 events with all methods, from a multiplicative congruential generator.
fn play(control: &mut dyn CongestionControl) -> Vec<(u64, u64)> {
    let mut seed = 1u64;
    let mut number = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    control.on_lost_syn();
    let mut found = vec![(control.cwnd(), control.ssthresh())];
    for step in 0..20_000 {
        let now = Time::from_nanos(step * 1_000_000);
        let flight = control.cwnd().min(60_000);
        let loss =
            LossEvent { keeps_ssthresh: number(2) == 0, ..LossEvent::new(now, flight, flight) };
        match number(300) {
            0 => control.on_loss(&loss),
            1 => control.on_rto(&loss),
            2 => control.on_ecn(&loss),
            3 => control.on_recovered(1000 * (1 + number(50))),
            4 => control.on_undo(&UndoEvent { now, cwnd: 9000, ssthresh: 8000 }),
            5 => control.on_idle(&IdleEvent { now, cwnd: 4000, ssthresh: 6000 }),
            _ => control.on_ack(&AckEvent {
                growth: (number(10) > 0).then_some(1 + number(3000)),
                app_limited: number(10) == 0,
                rtt: Some(Duration::from_millis(20)),
                ..AckEvent::of_new_data(now, 2000)
            }),
        }
        found.push((control.cwnd(), control.ssthresh()));
    }
    found
}

#[test]
fn reno_with_the_contract_in_c_equals_the_built_in_reno() {
    assert_eq!(play(&mut compiled(reno_table())), play(&mut Reno::new(&setup())));
}

#[test]
fn table_of_an_older_part_has_default_functions_for_those_it_lacks() {
    let mut table = reno_table();
    table.size = std::mem::offset_of!(CongestionTable, on_rto) as u32;
    let copy = CongestionTable::at((&raw const table).addr()).unwrap();
    assert!(copy.on_loss.is_some() && copy.on_rto.is_none() && copy.on_ecn.is_none());
    let mut control = compiled(copy);
    control.on_rto(&LossEvent::new(Time::ZERO, 20_000, 20_000));
    assert_eq!((control.cwnd(), control.ssthresh()), (1000, 10_000));
}

#[test]
fn wrong_tables_are_rejected() {
    let rejected = |change: fn(&mut CongestionTable)| {
        let mut table = reno_table();
        change(&mut table);
        CongestionTable::at((&raw const table).addr()).unwrap_err()
    };
    assert_eq!(rejected(|table| table.version = 2), TableError::Version(2));
    assert_eq!(rejected(|table| table.on_loss = None), TableError::Missing("on_loss"));
    let state = TableError::State { size: 8, align: 8 };
    assert_eq!(rejected(|table| table.state_size = 8), state);
    let align = TableError::State { size: size_of::<RenoState>() as u64, align: 32 };
    assert_eq!(rejected(|table| table.state_align = 32), align);
}

/// Returns the message after an ACK that `on_ack` handles.
fn message(on_ack: extern "C" fn(*mut c_void, *const Ack) -> i32) -> String {
    let mut control = compiled(CongestionTable { on_ack: Some(on_ack), ..reno_table() });
    control.on_ack(&AckEvent::of_new_data(Time::ZERO, 1000));
    let before = control.cwnd();
    control.on_loss(&LossEvent::new(Time::ZERO, 20_000, 20_000));
    assert_eq!(control.cwnd(), before, "a part that has failed is not called");
    control.take_error().expect("the value is outside its range").to_string()
}

#[test]
fn failures_and_values_outside_their_ranges_are_named() {
    extern "C" fn fails(_: *mut c_void, _: *const Ack) -> i32 {
        0
    }
    extern "C" fn no_window(state: *mut c_void, _: *const Ack) -> i32 {
        of(state).control.cwnd = f64::NAN;
        1
    }
    extern "C" fn small(state: *mut c_void, _: *const Ack) -> i32 {
        of(state).control.cwnd = 999.0;
        1
    }
    extern "C" fn negative(state: *mut c_void, _: *const Ack) -> i32 {
        of(state).control.ssthresh = -5.0;
        1
    }
    extern "C" fn slow(state: *mut c_void, _: *const Ack) -> i32 {
        of(state).control.pacing_rate = 0.0;
        1
    }
    assert_eq!(message(fails), "part: on_ack: failed");
    let window = "Use a number of bytes from one segment (1000) to 2^53";
    assert_eq!(message(no_window), format!("part: on_ack: cwnd = nan: not a number. {window}"));
    assert_eq!(message(small), format!("part: on_ack: cwnd = 999.0: below one segment. {window}"));
    assert!(message(negative).starts_with("part: on_ack: ssthresh = -5.0: below 0. Use"));
    assert!(message(slow).starts_with("part: on_ack: pacing_rate = 0.0: below 1. Use"));
}
