"""All drivers by name: the YAML documents beside this module, read when they are asked for."""

import difflib
import functools
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources import abc
from typing import TypeVar

from nomad_csi import errors
from nomad_csi.drivers import model
from nomad_csi.spec import base, yaml_text
from nomad_csi.spec import driver as drivers

RowT = TypeVar("RowT", bound=base.Model)
_SUFFIX = ".yaml"


class Rows(Mapping[str, RowT]):
    """The documents of one folder by the names of their files; each is checked by *model* when it is first read."""

    def __init__(self, folder: abc.Traversable, row: type[RowT]) -> None:
        self._files = {
            path.name.removesuffix(_SUFFIX): path
            for path in sorted(folder.iterdir(), key=lambda path: path.name)
            if path.name.endswith(_SUFFIX)
        }
        self._row = row
        self._read = functools.cache(self._parsed)

    def __getitem__(self, name: str) -> RowT:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def _parsed(self, name: str) -> RowT:
        document = yaml_text.load(self._files[name].read_text(encoding="utf-8"))
        return self._row.model_validate_json(json.dumps(document))


_FOLDER = resources.files("nomad_csi.drivers")
DRIVERS: Mapping[str, model.Driver] = Rows(_FOLDER, model.Driver)
"""The catalogue."""

UNUSABLE: Mapping[str, model.Unusable] = Rows(_FOLDER / "unusable", model.Unusable)
"""Drivers that cannot run on Nomad, by name, each with the reason."""


def find(driver: str | drivers.DriverSpec) -> drivers.DriverSpec | None:
    """Return what a plugin's ``driver`` means: a row of the catalogue, or the description itself; else ``None``."""
    return DRIVERS.get(driver) if isinstance(driver, str) else driver


def deletion(provider: str) -> model.DriverDeletion | None:
    """Return what is known of deletion by the driver that answers the name *provider*; ``None``: nothing."""
    for driver in DRIVERS.values():
        if re.fullmatch(re.escape(driver.provider).replace(r"\{plugin_id\}", ".+"), provider):
            return driver.deletion
    return None


def described(driver: str | drivers.DriverSpec) -> drivers.DriverSpec:
    """Return what a plugin's ``driver`` means. Raises `errors.SpecError` for a name that is not in the catalogue."""
    found = find(driver)
    if found is None:
        raise errors.SpecError((unknown(str(driver), "driver"),))
    return found


def unknown(name: str, path: str) -> errors.Problem:
    """Return what is wrong with a *name* at *path* that is not in the catalogue."""
    if name in UNUSABLE:
        row = UNUSABLE[name]
        allowed = f"a driver that can run on Nomad; {row.title} cannot: {row.reason}"
        return errors.Problem(path=path, got=repr(name), allowed=allowed, fix=row.instead)
    close = difflib.get_close_matches(name, DRIVERS, n=1)
    fix = f"did you mean {close[0]}" if close else "or describe the driver here: {name, provider, image, roles, ...}"
    return errors.Problem(path=path, got=repr(name), allowed=f"one of {', '.join(DRIVERS)}", fix=fix)
