//! Piggyback requests that are read with the MPDUs that carry them, where the base station does not
//! read them at once: after the repetitions of HARQ and ARQ, or never.

use super::Tdd;
use super::uplink::ReceivedRequest;
use airpath_core::{Duration, Time};

/// Requests on the air. An MPDU has the number of its request, from 1; 0: no request.
#[derive(Default)]
pub(super) struct PiggybackRequests {
    /// By number less 1: what is said, and what is added once it is read.
    requests: Vec<(ReceivedRequest, Duration)>,
    free: Vec<u32>,
}

impl PiggybackRequests {
    /// Takes a request; returns its number.
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
    /// The MPDU with request number `request_number` of a station is settled: the request is read,
    /// or lost with it, which the station learns at once.
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
