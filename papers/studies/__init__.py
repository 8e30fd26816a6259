"""Work beyond the papers, with what the papers are made with: one folder for each paper."""
