"""Benchmarks: ratios against the peers, measured in one run. `python -m benchmarks --help`."""
