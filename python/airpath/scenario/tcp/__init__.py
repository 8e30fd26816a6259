"""TCP parameters: the table `tcp_options.toml`, the generated class, and the profiles."""
