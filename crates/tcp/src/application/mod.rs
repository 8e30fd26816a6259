//! Applications of TCP senders, one file per kind.
//!
//! An application writes data, waits until all of it is acknowledged, and writes again. For the
//! applications with a client (`video.rs`, `requests.rs`) the acknowledgement of the last byte
//! carries the client's next request: the sender acts one return delay after the client. A client's
//! times are therefore measured at the sender; their differences are those at the client if the
//! return delay is constant. A client that requests objects may have several connections; the stage
//! `client.rs` contains their senders.

mod abr;
mod distributions;
mod on_off;
mod requests;
mod video;

pub use abr::{buffer_based, buffer_map, harmonic_mean, highest_within};
pub use distributions::{SizeDistribution, TimeDistribution, pareto, triangular};
pub use on_off::{Burst, OnOff, OnOffConfig};
pub use requests::{Requests, RequestsConfig};
pub use video::{AbrConfig, Video, VideoConfig, VideoReport};

use airpath_core::Time;
use on_off::Bursts;

/// State of an application that writes and pauses, for any TCP sender.
#[derive(Clone, Debug)]
pub struct Application {
    kind: Kind,
    is_writing: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    OnOff(Bursts),
    Video(Video),
    /// The stage of a client writes the data.
    Responses,
}

impl From<OnOff> for Application {
    fn from(on_off: OnOff) -> Application {
        Application::new(on_off)
    }
}

impl From<Video> for Application {
    fn from(video: Video) -> Application {
        Application { kind: Kind::Video(video), is_writing: false }
    }
}

impl Application {
    /// Creates an application that pauses until [`Application::write`] is called.
    pub fn new(on_off: OnOff) -> Application {
        Application { kind: Kind::OnOff(Bursts::new(on_off)), is_writing: false }
    }

    /// Creates the application of a connection whose data [`Sender::respond`](crate::Sender)
    /// writes.
    pub(crate) fn responses() -> Application {
        Application { kind: Kind::Responses, is_writing: false }
    }

    /// Returns true during a burst.
    pub fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Returns true if the end of each write carries PSH, so that the receiver acknowledges it
    /// immediately: the acknowledgement is the client's request.
    pub fn pushes(&self) -> bool {
        !matches!(self.kind, Kind::OnOff(_))
    }

    /// Begins a burst. Returns the size and the end time of the burst. A burst with a duration has
    /// size `u64::MAX` (unlimited). A burst with a size has end time `NEVER`: it ends when its last
    /// byte has been acknowledged.
    pub fn write(&mut self, now: Time) -> (u64, Time) {
        self.is_writing = true;
        match &mut self.kind {
            Kind::OnOff(bursts) => bursts.write(now),
            Kind::Video(video) => (video.request(now), Time::NEVER),
            Kind::Responses => (0, Time::NEVER),
        }
    }

    /// Ends a burst. Returns the start time of the next burst.
    pub fn pause(&mut self, now: Time) -> Time {
        self.is_writing = false;
        match &mut self.kind {
            Kind::OnOff(bursts) => bursts.pause(now),
            Kind::Video(video) => video.on_delivered(now),
            Kind::Responses => Time::NEVER,
        }
    }

    /// Handles the stop of the sender: nothing more is written.
    pub fn stop(&mut self) {
        match &mut self.kind {
            Kind::OnOff(_) | Kind::Responses => {}
            Kind::Video(video) => video.stop(),
        }
    }

    /// Resets the measurements.
    pub fn start_measurement(&mut self, now: Time) {
        match &mut self.kind {
            Kind::OnOff(_) | Kind::Responses => {}
            Kind::Video(video) => video.start_measurement(now),
        }
    }

    /// Returns the video client; `None` for other applications.
    pub fn video(&self) -> Option<&Video> {
        match &self.kind {
            Kind::Video(video) => Some(video),
            Kind::OnOff(_) | Kind::Responses => None,
        }
    }
}
