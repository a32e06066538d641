"""A whole plan verified: plugins and volumes, once or again and again, as report, changes and metrics."""
