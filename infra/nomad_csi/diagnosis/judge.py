"""Apply the rules of a command to the facts of a cluster, in the order of the documentation. Pure."""

from collections.abc import Collection, Iterator

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import (
    claims,
    clients,
    frame,
    machines,
    plugins,
    storage,
    token,
    versions,
    volumes,
)
from nomad_csi.findings import Finding, registry

_MODULES = (plugins, versions, clients, token, volumes, machines, storage, claims)
_ORDER = [each.__name__ for each in _MODULES]
RULES = tuple(sorted(frame.RULES, key=lambda item: _ORDER.index(item.find.__module__)))


def outcomes(cluster: facts.Facts, *commands: str) -> tuple[facts.Outcome, ...]:
    """Return what the rules of *commands* find, and what could not be checked, each once."""
    rows = registry.codes()
    codes = {code for code in rows if not set(commands).isdisjoint(rows[code].commands)}
    every = (item for rule in RULES if not codes.isdisjoint(rule.codes) for item in _outcomes(rule, cluster, codes))
    return tuple(dict.fromkeys(every))


def _outcomes(item: frame.Rule, cluster: facts.Facts, codes: Collection[str]) -> Iterator[facts.Outcome]:
    """
    Yield what the rule finds of *codes*; where it lacks a fact, that it is not checked.

    A fact that is absent is no subject: the rule finds nothing.
    """
    parts = {name: getattr(cluster, name) for name in item.needs}
    for name, value in parts.items():
        if isinstance(value, facts.Unknown) and item.needs[name]:
            yield facts.Unchecked(check=item.needs[name], reason=value.reason, is_expected=value.is_expected)
    if all(value is not None and not isinstance(value, facts.Unknown) for value in parts.values()):
        yield from (each for each in item.find(cluster, **parts) if not isinstance(each, Finding) or each.code in codes)
