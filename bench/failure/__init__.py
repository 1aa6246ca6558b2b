"""The parts of the failure benchmark, bench/failure.py."""
