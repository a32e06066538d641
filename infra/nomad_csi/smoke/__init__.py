"""Test a volume by small jobs: write, release, read back on another client."""
