"""Work beyond the papers, with what the papers are made with: one directory for each paper."""
