"""Fuzzing of what reads foreign input: `targets` has what is fuzzed, `python -m tests.fuzz` runs it."""
