"""Allocations that want a volume and cannot get it: they fail in Nomad's CSI hook, before a claim is kept. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi.findings import Finding, causes, finding
from nomad_csi.nomad.records import jobs
from nomad_csi.text import foreign, listing

Key = tuple[str, str]
"""Namespace and id of a volume."""


def failing(
    failed: Iterable[jobs.FailedMount], wanted: Mapping[str, tuple[str, ...]], plugins: Mapping[Key, str]
) -> Iterator[Finding]:
    """
    Yield a finding for each volume of *plugins* (the plugin's id, by volume) that allocations fail to get.

    *wanted* are the ids of the volumes that an allocation asks for, by its id. Where its error names some of them, it
    failed for these.
    """
    by_volume: dict[Key, list[jobs.FailedMount]] = defaultdict(list)
    for item in failed:
        ids = wanted.get(item.alloc_id, ())
        for volume_id in [each for each in ids if _names(item.error, each)] or ids:
            by_volume[item.namespace, volume_id].append(item)
    for key, items in by_volume.items():
        if key in plugins:
            yield _finding(key, plugins[key], items)


def _names(error: str, volume_id: str) -> bool:
    """Return whether *error* names the volume: ``could not claim volume data: ...``."""
    return re.search(rf'\bvolume "?{re.escape(volume_id)}"?(?=[\s:,]|$)', error) is not None


def _finding(key: Key, plugin_id: str, items: list[jobs.FailedMount]) -> Finding:
    names = [f"{item.alloc_id[:8]} of job {item.job_id} on {item.node_name}" for item in items]
    subject = f"volume {key[0]}/{key[1]}"
    return finding(
        "volume-mount-failing",
        subject,
        expected="allocations that mount it",
        found=f"{listing.counted(len(items), 'failed allocation')} ({listing.shortened(names)}): "
        f"{foreign.clean(items[-1].error)}",
        names={"ALLOC": items[-1].alloc_id[:8]},
        links=(subject, *causes.of_plugin(plugin_id), *(causes.of_client(item.node_id) for item in items)),
    )
