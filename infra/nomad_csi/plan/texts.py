"""What a text may hold to stand in a job file as it is."""

from collections.abc import Iterator

from nomad_csi.errors import Problem
from nomad_csi.text import normal_form


def job_text(value: str, path: str, *, shown: bool = True) -> Iterator[Problem]:
    """Yield why *value*, at *path*, cannot stand in a job file; its text is told unless it is not to be *shown*."""
    got = repr(value) if shown else "[not shown]"
    if "${" in value or "%{" in value:
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=got, allowed=allowed, fix="write the value itself")
    if not normal_form.is_normalised(value):
        allowed = "text in Unicode's NFC form, because job files are normalised to it"
        yield Problem(path=path, got=got, allowed=allowed, fix=normal_form.FIX)
