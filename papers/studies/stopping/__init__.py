"""What sequential stopping does to the coverage of the intervals of a sweep."""
