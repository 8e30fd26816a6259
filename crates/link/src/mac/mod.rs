//! Medium access: schedulers, bandwidth requests and grants.

pub(crate) mod agenda;
pub mod grant;
pub mod request;
pub mod scheduler;
