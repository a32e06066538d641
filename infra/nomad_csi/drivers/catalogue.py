"""All drivers by name."""

import difflib
from collections.abc import Mapping

from nomad_csi import errors
from nomad_csi.drivers import (
    aws_ebs,
    aws_efs,
    aws_s3,
    csi_hostpath,
    csi_nfs,
    democratic_csi,
    digitalocean,
    gce_pd,
    model,
    portworx,
)
from nomad_csi.spec import driver as drivers

_ROWS = (
    aws_ebs.DRIVER,
    aws_efs.DRIVER,
    gce_pd.DRIVER,
    digitalocean.DRIVER,
    portworx.DRIVER,
    democratic_csi.DRIVER,
    csi_hostpath.DRIVER,
    csi_nfs.DRIVER,
)
DRIVERS: Mapping[str, model.Driver] = {driver.name: driver for driver in _ROWS}
"""The catalogue."""

UNUSABLE: Mapping[str, model.Unusable] = {row.name: row for row in (aws_s3.UNUSABLE,)}
"""Drivers that cannot run on Nomad, by name, each with the reason."""


def find(driver: str | drivers.DriverSpec) -> drivers.DriverSpec | None:
    """Return what a plugin's ``driver`` means: a row of the catalogue, or the description itself; else ``None``."""
    return DRIVERS.get(driver) if isinstance(driver, str) else driver


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
