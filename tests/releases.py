"""The differences between releases of Nomad: what ``releases.yaml`` has beside the versions that the product reads."""

import functools
from dataclasses import dataclass
from importlib import resources

from nomad_csi import nomad
from nomad_csi.findings import registry
from nomad_csi.nomad import version_gates
from nomad_csi.plan import versions
from nomad_csi.spec import yaml_text


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A behaviour that differs in older releases of Nomad."""

    since: tuple
    """First version with the behaviour `now`, of each release line that got the change; the newest line first."""

    before: str
    now: str
    felt: str
    """The effect on users of nomad-csi."""


@functools.cache
def differences():
    """Return them by name."""
    text = resources.files(nomad).joinpath("releases.yaml").read_text(encoding="utf-8")
    return {name: _difference(**row) for name, row in yaml_text.load(text)["differences"].items()}


def _difference(*, code="", since=(), **texts):
    return Difference(since=registry.codes()[code].gate.fixed_in if code else tuple(since), **texts)


def has(name, version):
    """Return whether *version* has the newer behaviour; a pre-release counts as its release; ``None``: no version."""
    found = versions.parse(version)
    return version_gates.is_since(differences()[name].since, version_gates.release(found)) if found else None
