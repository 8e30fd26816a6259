//! Stub.
pub fn check() -> Vec<String> {
    Vec::new()
}
