"""Verify a whole plan, plugins and volumes, once or repeatedly: as report, changes and metrics."""
