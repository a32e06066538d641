"""Make texts of other programs safe to show: redact secrets, escape control characters. Pure."""
