"""What goes into the engine and comes out of it."""
