//! The component families of a scenario, one line per family.
//!
//! The macro generates the registries of plug-ins, the lists of built-in components and the
//! parameter checks.

use airpath_core::{ConfigError, Registries};
use serde_json::Value;

macro_rules! families {
    ($(
        #[doc = $about:literal]
        $name:literal => $field:ident: $($module:ident)::+::{$registry:ident, $any:ident};
    )+) => {
        /// Registries of plug-ins, by family. Empty registries provide only the built-in
        /// components.
        #[derive(Clone, Default)]
        pub struct Components {
            $(#[doc = $about] pub $field: $($module)::+::$registry,)+
        }

        impl Components {
            /// Returns copies of the registries, for components that contain components of other
            /// families.
            pub(crate) fn registries(&self) -> Registries {
                Registries::default()$(.with(self.$field.clone()))+
            }
        }

        /// Public name of each family, with the name and the one-line description of each built-in
        /// component.
        pub const FAMILIES: &[(&str, &[(&str, &str)])] =
            &[$(($name, $($module)::+::$any::BUILT_IN)),+];

        /// Checks the parameters of a built-in component. Returns `None` for an unknown family.
        ///
        /// # Errors
        /// Reports all invalid parameters that can be found without reading files and without the
        /// other components of the scenario.
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
