"""Effect of sequential stopping on the coverage of a sweep's intervals."""
