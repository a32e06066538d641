"""Tables of tests that are files beside them."""

import yaml


def load(path):
    """Return the YAML document in the file *path*; read in C where there is a library for it, ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506  # a SafeLoader
