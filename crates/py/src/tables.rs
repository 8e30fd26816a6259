//! Conversion of results to tables for Python: statistics of flows, samples of sender state, and
//! flow monitor statistics.

use crate::trace::{column, doubles};
use airpath_core::{DropReason, Duration, Series, Time};
use airpath_path::FlowReport;
use airpath_path::quantities::{
    GIVEN_OF_FLOWS, OF_FLOWS, OF_LINKS, OF_QUEUES, OF_STATIONS, OF_USERS, Quantity, Value as Of,
};
use airpath_sim::{Connection, DirectionStats, FlowStats};
use airpath_tcp::{SS_COLUMNS, SsColumn, SsSample, SsValue};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};

/// One byte per flow (1 for TCP), and for each quantity (name, type, values). The type is `f8`
/// (missing values are NaN) or `i8` (missing values are −1).
pub(crate) type Flows<'py> =
    (Bound<'py, PyBytes>, Vec<(&'static str, &'static str, Bound<'py, PyBytes>)>);

/// Returns the measurements of the flows of one replication.
pub(crate) fn flows<'py>(py: Python<'py>, flows: &[FlowReport]) -> PyResult<Flows<'py>> {
    let quantities = GIVEN_OF_FLOWS.iter().chain(&OF_FLOWS);
    let columns = quantities.map(|Quantity { name, of, .. }| {
        let integers = |of: &dyn Fn(&FlowReport) -> i64| {
            let values = flows.iter().map(|flow| of(flow).to_le_bytes());
            Ok((*name, "i8", column(py, values)?))
        };
        match of {
            Of::Count(of) => integers(&|flow| of(flow) as i64),
            Of::Maybe(of) => integers(&|flow| of(flow).map_or(-1, |count| count as i64)),
            Of::Number(of) => {
                let values = flows.iter().map(|flow| of(flow).unwrap_or(f64::NAN));
                Ok((*name, "f8", doubles(py, values)?))
            }
        }
    });
    let columns = columns.collect::<PyResult<_>>()?;
    let is_tcp = column(py, flows.iter().map(|flow| [u8::from(flow.kind == "tcp")]))?;
    Ok((is_tcp, columns))
}

/// Returns the names of measured quantities and recorded series, with their units, as JSON.
#[pyfunction]
pub(crate) fn vocabulary() -> String {
    fn named<R>(quantities: &[Quantity<R>]) -> Vec<(&'static str, &'static str)> {
        quantities.iter().map(|quantity| (quantity.name, quantity.unit)).collect()
    }
    let series = Series::ALL.map(|(series, name)| {
        json!({
            "name": name,
            "unit": series.unit(),
            "at_queues": series.is_at_queues(),
            "level": series.is_level(),
        })
    });
    json!({
        "flow": named(&OF_FLOWS),
        "given": named(&GIVEN_OF_FLOWS),
        "queue": named(&OF_QUEUES),
        "link": named(&OF_LINKS),
        "user": named(&OF_USERS),
        "station": named(&OF_STATIONS),
        "series": series,
        "drop_reasons": DropReason::ALL.map(DropReason::name),
    })
    .to_string()
}

/// Returns a dictionary that maps the name of each quantity to its column as bytes.
pub(crate) fn ss<'py>(py: Python<'py>, samples: &[SsSample]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for SsColumn { name, of } in &SS_COLUMNS {
        let values = match of {
            SsValue::Flow => column(py, samples.iter().map(|sample| sample.flow.to_le_bytes()))?,
            SsValue::State => column(py, samples.iter().map(|of| [of.info.state.number()]))?,
            SsValue::Number(of) => doubles(py, samples.iter().map(of))?,
        };
        all.set_item(name, values)?;
    }
    Ok(all)
}

/// Returns a JSON list with one entry per flow and direction. Datagram flows have no entry for
/// ACKs.
pub(crate) fn flow_monitor(flows: Option<&[FlowStats]>, connections: &[Connection]) -> Value {
    let Some(flows) = flows else { return Value::Null };
    let directions = (0..).zip(flows.iter().zip(connections)).flat_map(|(flow, (stats, of))| {
        let [data, acks] = stats;
        let acks = of.is_tcp().then(|| direction(flow, "ack", acks, of));
        [Some(direction(flow, "data", data, of)), acks].into_iter().flatten()
    });
    directions.collect()
}

fn direction(flow: u32, name: &str, stats: &DirectionStats, connection: &Connection) -> Value {
    let ends = [connection.source, connection.sink];
    let [from, to] = if name == "ack" { [ends[1], ends[0]] } else { ends };
    let nanos = |span: Duration| span.as_nanos();
    let instant = |time: Option<Time>| time.map(Time::as_nanos);
    let delay = stats.delay;
    let by_reason = |counts: [u64; DropReason::ALL.len()]| -> Value {
        let named = DropReason::ALL.iter().zip(counts);
        named.map(|(reason, count)| (reason.name().to_owned(), Value::from(count))).collect()
    };
    json!({
        "flow": flow,
        "direction": name,
        "source_address": from.address.to_string(),
        "destination_address": to.address.to_string(),
        "protocol": connection.protocol(),
        "source_port": from.port,
        "destination_port": to.port,
        "tx_packets": stats.tx_packets,
        "tx_bytes": stats.tx_bytes,
        "rx_packets": stats.rx_packets,
        "rx_bytes": stats.rx_bytes,
        "lost_packets": stats.drops.packets.iter().sum::<u64>(),
        "times_forwarded": stats.times_forwarded,
        "delay_sum_ns": delay.map(|delay| nanos(delay.sum)),
        "jitter_sum_ns": delay.map(|delay| nanos(delay.jitter_sum)),
        "last_delay_ns": delay.map(|delay| nanos(delay.last)),
        "min_delay_ns": delay.map(|delay| nanos(delay.min)),
        "max_delay_ns": delay.map(|delay| nanos(delay.max)),
        "time_first_tx_ns": instant(stats.tx_times.map(|(first, _)| first)),
        "time_last_tx_ns": instant(stats.tx_times.map(|(_, last)| last)),
        "time_first_rx_ns": instant(stats.rx_times.map(|(first, _)| first)),
        "time_last_rx_ns": instant(stats.rx_times.map(|(_, last)| last)),
        "packets_dropped": by_reason(stats.drops.packets),
        "bytes_dropped": by_reason(stats.drops.bytes),
    })
}
