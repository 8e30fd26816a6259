//! Test of the memory size of a connection, which limits the number of connections in a run.

use crate::congestion::AnyCongestion;
use crate::recovery::Recovery;
use crate::window::AnyWindow;
use crate::{Receiver, Sender};

/// The endpoints of 100 000 idle connections must fit into 100 MB. All other data is shared, or
/// allocated when needed.
#[test]
fn endpoints_are_small() {
    let sizes = [
        ("sender", size_of::<Sender>(), 544),
        ("its congestion control", size_of::<AnyCongestion>(), 80),
        ("its loss recovery", size_of::<Recovery>(), 16),
        ("receiver", size_of::<Receiver>(), 240),
        ("its window", size_of::<AnyWindow>(), 24),
    ];
    for (what, bytes, most) in sizes {
        assert!(bytes <= most, "{what}: {bytes} B, more than {most}");
    }
}
