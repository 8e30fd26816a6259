//! The families of parts that a scenario chooses from: one line each.
//!
//! What a host asks for, the registries of parts from outside and the lists of those built in,
//! follows from it.

use airpath_aqm::{AnyQueue, QueueRegistry};
use airpath_link::{AnyLink, LinkRegistry};
use airpath_phy::adaptation::{AnyPolicy, PolicyRegistry};
use airpath_phy::errors::{AnyErrors, ErrorsRegistry};
use airpath_phy::snr::{AnySnr, SnrRegistry};
use airpath_tcp::congestion::{AnyCongestion, CongestionRegistry};
use airpath_tcp::window::{AnyWindow, WindowRegistry};
use std::sync::Arc;

macro_rules! families {
    ($(#[doc = $about:literal] $name:literal => $field:ident: $registry:ty, $any:ty;)+) => {
        /// Parts from outside, by kind; empty for the built-in ones alone.
        #[derive(Default)]
        pub struct Parts {
            $(#[doc = $about] pub $field: $registry,)+
        }

        /// Every family by the name that users know it by, with name and one-line description of
        /// each of its built-in parts.
        pub const FAMILIES: &[(&str, &[(&str, &str)])] = &[$(($name, <$any>::BUILT_IN)),+];
    };
}

families! {
    /// Queue disciplines.
    "aqm" => queues: QueueRegistry, AnyQueue;
    /// Congestion controls.
    "congestion" => congestion: CongestionRegistry, AnyCongestion;
    /// Receive-window policies.
    "window" => windows: WindowRegistry, AnyWindow;
    /// Links.
    "link" => links: LinkRegistry, AnyLink;
    /// Error processes of links.
    "errors" => errors: Arc<ErrorsRegistry>, AnyErrors;
    /// SNR processes of links.
    "snr" => snr: Arc<SnrRegistry>, AnySnr;
    /// Link-adaptation policies.
    "policy" => policies: Arc<PolicyRegistry>, AnyPolicy;
}
