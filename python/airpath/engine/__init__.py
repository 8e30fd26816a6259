"""Interface to the simulation engine: its input, and typed access to resolved scenarios."""
