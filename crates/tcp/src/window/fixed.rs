//! Receive window of fixed size.

use super::{ReceiveWindow, WindowSetup};
use airpath_core::{Component, ConfigError, Setup};
use serde::Deserialize;

/// Configuration, which has no parameters. The window size is the connection's receive window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedConfig {}

/// Receive window of fixed size. The application reads all data immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWindow {
    bytes: u64,
}

impl FixedWindow {
    /// Creates a window of `bytes`.
    pub fn new(bytes: u64) -> FixedWindow {
        FixedWindow { bytes }
    }
}

impl<T: ?Sized> Component<T, WindowSetup> for FixedWindow {
    type Config = FixedConfig;

    fn build(
        _config: FixedConfig,
        setup: Setup<'_, T, WindowSetup>,
    ) -> Result<FixedWindow, ConfigError> {
        Ok(FixedWindow::new(setup.extra.receive_window))
    }
}

impl ReceiveWindow for FixedWindow {
    #[inline]
    fn window(&self) -> u64 {
        self.bytes
    }
}
