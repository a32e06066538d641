"""Convert JSON objects, such as responses of a server, to the shape of files, without line numbers."""

from collections.abc import Mapping
from typing import Any

from nomad_csi.hcl import api, values
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs

NO_LINE = 0


def content(found: Any) -> Any:
    """Return *found* with each of its objects as a `values.Map` and each list as `values.Items`, all without a line."""
    if isinstance(found, Mapping):
        return values.Map(NO_LINE, ((str(key), content(value), NO_LINE) for key, value in found.items()))
    if isinstance(found, list):
        items = values.Items(NO_LINE)
        for item in found:
            items.put(content(item), NO_LINE)
        return items
    return found


def job_file(name: str, found: Mapping[str, Any]) -> parsed.File:
    """Return a job from Nomad's API as the file *name*."""
    return parsed.File(name=name, kind="job", form="json", jobs=jobs.jobs(content(found)))


def volume_file(name: str, found: Mapping[str, Any]) -> parsed.File:
    """Return a volume in the form of Nomad's API as the file *name*."""
    return parsed.File(name=name, kind="volume", form="json", volumes=tuple(api.volumes(content(found))))
