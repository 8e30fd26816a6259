"""Interface to the engine: its input, and typed access to resolved scenarios."""
