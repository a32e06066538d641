"""Rules for the maps of a volume: keys that its driver accepts, requires or refuses."""

import dataclasses
from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.spec import encrypted, problems
from nomad_csi.spec import model as spec

CODES: Mapping[str, tuple[str, str, str]] = {
    "context": ("context-key-unknown", "context-value-unknown", "context-key-missing"),
    "parameters": ("parameter-unknown", "parameter-value-unknown", "parameter-missing"),
    "secrets": ("", "", ""),
}
"""Codes of the findings in a file, by map: a refused key, a refused value, a missing key."""


def check(
    values: Mapping[str, str], keys: spec.KeysSpec, driver: str, path: str, *, is_secret: bool = False
) -> Iterator[Problem]:
    """Yield the problems of the map *values*, at *path*, for a *driver* that accepts *keys*; a secret is not shown."""
    unknown, unknown_value, missing = CODES[path.rpartition(".")[2]]
    for key, value in values.items():
        where = f"{path}.{key}"
        fix = keys.entry(keys.refused, key)
        known = keys.entry(keys.values, key)
        if fix is not None:
            allowed = f"keys that {driver} takes"
            yield Problem(path=where, got=f"the key {key!r}", allowed=allowed, fix=fix, code=unknown)
        elif not keys.takes(key):
            allowed = f"one of {', '.join(sorted(keys.allowed or ()))}; {driver} refuses others"
            close = problems.suggestion(key, keys.allowed or ())
            fix = f"did you mean {close}?" if close else ""
            yield Problem(path=where, got=f"the key {key!r}", allowed=allowed, fix=fix, code=unknown)
        elif known is not None and value not in known and value != encrypted.PLACEHOLDER:
            allowed = f"one of {', '.join(sorted(known))} for {driver}"
            got = "[secret]" if is_secret else repr(value)
            yield Problem(path=where, got=got, allowed=allowed, code=unknown_value)
    for problem in _missing(values, keys, driver, path, is_secret=is_secret):
        yield dataclasses.replace(problem, code=missing)


def _missing(
    values: Mapping[str, str], keys: spec.KeysSpec, driver: str, path: str, *, is_secret: bool
) -> Iterator[Problem]:
    for key, cause in keys.missing(values).items():
        allowed = f"a value, without which {driver} cannot use the volume"
        if cause:
            allowed = f"a value, which {cause}{'' if is_secret else f' {values[cause]!r}'} calls for"
        yield Problem(path=f"{path}.{key}", got="nothing", allowed=allowed, fix=f"add {key.replace('|', ' or ')}")
