"""Check text that is written unchanged into a job file."""

from collections.abc import Iterator

from nomad_csi.errors import Problem
from nomad_csi.text import normal_form


def job_text(value: str, path: str, *, shown: bool = True) -> Iterator[Problem]:
    """Yield why *value*, at *path*, cannot be written into a job file; *shown*: whether problems include the value."""
    got = repr(value) if shown else "[not shown]"
    if "${" in value or "%{" in value:
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=got, allowed=allowed, fix="write the value itself")
    if not normal_form.is_normalised(value):
        allowed = "text in Unicode's NFC form, because job files are normalised to it"
        yield Problem(path=path, got=got, allowed=allowed, fix=normal_form.FIX)
