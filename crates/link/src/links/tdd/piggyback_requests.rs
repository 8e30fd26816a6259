//! Piggyback requests that the base station reads together with their MPDUs, after the
//! retransmissions of HARQ and ARQ. If the MPDU is lost, the request is lost.

use super::Tdd;
use super::uplink::ReceivedRequest;
use airpath_core::{Duration, Time};

/// Requests on the air. Each MPDU stores the number of its request, from 1; 0 means no request.
#[derive(Default)]
pub(super) struct PiggybackRequests {
    /// Requests, and for each request the delay between its reception and its processing. The index
    /// is the number of the request minus 1.
    requests: Vec<(ReceivedRequest, Duration)>,
    free: Vec<u32>,
}

impl PiggybackRequests {
    /// Stores a request. Returns its number.
    pub(super) fn put(&mut self, stated: ReceivedRequest, delay: Duration) -> u32 {
        if let Some(number) = self.free.pop() {
            self.requests[number as usize - 1] = (stated, delay);
            return number;
        }
        self.requests.push((stated, delay));
        self.requests.len() as u32
    }

    fn take(&mut self, number: u32) -> (ReceivedRequest, Duration) {
        self.free.push(number);
        self.requests[number as usize - 1]
    }
}

impl Tdd {
    /// Processes request number `request_number` of a station when the MPDU with the request is
    /// received or lost. The request is read or lost together with the MPDU. The station detects
    /// the loss immediately.
    #[cold]
    pub(super) fn read_carried(
        &mut self,
        station: usize,
        request_number: u32,
        is_received: bool,
        now: Time,
    ) {
        let (stated, delay) = self.piggyback_requests.take(request_number);
        if is_received {
            self.stated.push(now + delay, stated);
            self.seldom = self.seldom.min(now + delay);
        } else {
            self.forget_request(station, now);
        }
    }
}
