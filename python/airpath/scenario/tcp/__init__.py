"""TCP parameters: the table (`tcp_options.toml`), the class made from it, the profiles."""
