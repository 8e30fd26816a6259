"""Studies beyond the papers, with the same framework: one directory for each paper."""
