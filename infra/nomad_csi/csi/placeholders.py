"""
Placeholders in a configured endpoint of a plugin.

The socket path of a plugin has the id of its allocation, which changes with each change of the job. So an
endpoint in a spec has ``{alloc_id}``, and ``{node_name}`` for the client, as ``ssh`` knows it.
"""

from collections.abc import Mapping

from nomad_csi.csi import forward

ALLOC_ID = "{alloc_id}"
NODE_NAME = "{node_name}"

_SAMPLE = {ALLOC_ID: "00000000-0000-0000-0000-000000000000", NODE_NAME: "client-1"}


def check(written: str) -> None:
    """Raise `errors.CsiError` if *written* is no endpoint, for any values of its placeholders."""
    forward.check(fill(written, _SAMPLE))


def are_in(written: str) -> bool:
    """Return whether *written* has any."""
    return any(name in written for name in _SAMPLE)


def fill(written: str, values: Mapping[str, str]) -> str:
    """Return *written* with each placeholder's value."""
    for name, value in values.items():
        written = written.replace(name, value)
    return written
