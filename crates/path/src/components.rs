//! The families of components that a scenario chooses from: one line each.
//!
//! What a host requests, the registries of plug-ins and the lists of those built in,
//! follows from it.

use airpath_core::{ConfigError, Registries};
use serde_json::Value;

macro_rules! families {
    ($(
        #[doc = $about:literal]
        $name:literal => $field:ident: $($module:ident)::+::{$registry:ident, $any:ident};
    )+) => {
        /// Plug-ins, by kind; empty for the built-in ones alone.
        #[derive(Default)]
        pub struct Components {
            $(#[doc = $about] pub $field: $($module)::+::$registry,)+
        }

        impl Components {
            /// Copies of the registries, for what takes components of other families.
            pub(crate) fn registries(&self) -> Registries {
                Registries::default()$(.with(self.$field.clone()))+
            }
        }

        /// Every family by the name that users know it by, with name and one-line description of
        /// each of its built-in components.
        pub const FAMILIES: &[(&str, &[(&str, &str)])] =
            &[$(($name, $($module)::+::$any::BUILT_IN)),+];

        /// Checks the parameters of a built-in component of a family; `None` if there is no such family.
        ///
        /// # Errors
        /// With every parameter that is not accepted, as far as that is known without files and
        /// without other components of a scenario.
        pub fn check_component(family: &str, description: &Value) -> Option<Result<(), ConfigError>> {
            match family {
                $($name => Some($($module)::+::$any::check(description)),)+
                _ => None,
            }
        }
    };
}

families! {
    /// Queue disciplines.
    "aqm" => queues: airpath_aqm::{QueueRegistry, AnyQueue};
    /// Congestion controls.
    "congestion" => congestion: airpath_tcp::congestion::{CongestionRegistry, AnyCongestion};
    /// Receive-window policies.
    "window" => windows: airpath_tcp::window::{WindowRegistry, AnyWindow};
    /// Links (`crates/link/src/links`).
    "link" => links: airpath_link::{LinkRegistry, AnyLink};
    /// Schedulers of cells.
    "scheduler" => schedulers: airpath_link::scheduler::{SchedulerRegistry, AnyScheduler};
    /// Request procedures of stations for the uplink.
    "request" => requests: airpath_link::request::{RequestRegistry, AnyRequest};
    /// Grant policies, which add proactive grants.
    "grant" => grants: airpath_link::grant::{GrantRegistry, AnyGrant};
    /// Error processes of links.
    "errors" => errors: airpath_phy::errors::{ErrorsRegistry, AnyErrors};
    /// SNR processes of links.
    "snr" => snr: airpath_phy::snr::{SnrRegistry, AnySnr};
    /// Link-adaptation policies.
    "policy" => policies: airpath_phy::adaptation::{PolicyRegistry, AnyPolicy};
}
