"""Rules for storage that is deleted with its volume: who deletes it, and who confirms that it is unused."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.drivers import catalogue, model
from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec


def check(
    create: spec.CreateSpec, driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str
) -> Iterator[Problem]:
    """Yield the problems of the deletion settings in *create*; none where the storage is kept."""
    how = create.deletion
    if create.on_destroy == "keep" or how is None:
        return
    if how.aws_region and not driver.uses_aws:
        fix = "name the controller of the plugin: endpoint"
        allowed = f"none: AWS knows nothing of the storage of {driver.name}"
        yield Problem(path=f"{path}.deletion.aws_region", got=repr(how.aws_region), allowed=allowed, fix=fix)
    known = catalogue.deletion(driver.provider)
    if how.endpoint and not (known and known.refuses_in_use) and not how.accept_unguarded:
        allowed = f"true: the storage of {driver.name} does not refuse to be deleted while it is in use"
        warning = "whoever registers and claims it at the last moment loses it"
        fix = f"{warning}; make sure that it does not happen, and accept it"
        yield Problem(path=f"{path}.deletion.accept_unguarded", got="false", allowed=allowed, fix=fix)
    if how.endpoint and known and plugin and not how.skip_final_snapshot:
        yield from _check_snapshot(known, plugin.config, f"{path}.deletion.skip_final_snapshot")


def _check_snapshot(known: model.DriverDeletion, config: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Yield a problem if the final snapshot would be deleted with its volume, which shows only after deregistration."""
    backend = str(config.get("driver", ""))
    if not known.takes_snapshots:
        yield Problem(path=path, got="false", allowed="true: the driver takes no snapshots")
    for pattern, key in known.snapshot_config.items():
        if re.fullmatch(pattern, backend) and not (key and _has(config, key)):
            allowed = f"true: a snapshot of {backend} is a part of its volume, and is deleted with it"
            fix = f"or set {key} in the plugin's config" if key else ""
            yield Problem(path=path, got="false", allowed=allowed, fix=fix)


def _has(config: Mapping[str, Any], key: str) -> bool:
    """Return whether *config* has a value under *key*, a path with dots."""
    found: Any = config
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return bool(found)
