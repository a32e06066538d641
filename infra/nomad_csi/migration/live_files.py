"""
Read volumes and plugin jobs from a cluster, in the shape of files. Read-only.

Values that Nomad never returns (secrets, mount flags) are reported and never guessed.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.hcl import documents, values
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as job_files
from nomad_csi.migration import model
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.spec import names

SECRETS = (
    "Nomad shows neither the secrets of volumes nor whether there are any: if the driver needs them, "
    "pass them by `apply --secrets`, or as Pulumi config secrets, under secrets of the volume"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Live:
    """Plugin jobs and volumes of a cluster."""

    files: list[parsed.File]
    """Each is named after its job or volume."""

    providers: Mapping[str, str]
    """Names of the drivers, such as ``ebs.csi.aws.com``, by the plugin's id."""


def read(
    client: nomad.Nomad,
    namespace: str,
    remarks: model.Remarks,
    *,
    plugin_id: str = "",
    known: Sequence[parsed.File] = (),
) -> Live:
    """
    Return plugin jobs and volumes; add a remark on what the token may not read.

    Args:
        client: the cluster; a read-only token is enough.
        namespace: of the volumes; `names.EVERYWHERE`: of all that the token may read, and all plugins.
        remarks: remarks are added here.
        plugin_id: only this plugin and its volumes; empty: all.
        known: files whose jobs and volumes are not read again: they may hold values that Nomad hides.

    Raises:
        errors.NomadApiError: Nomad did not respond, or the token may not list the objects.

    """
    in_files = _keys(known)
    listed = volumes.list_volumes(client, namespace)
    wanted = [
        (item.namespace, item.volume_id)
        for item in listed
        if plugin_id in ("", item.plugin_id) and ("volume", item.namespace, item.volume_id) not in in_files
    ]
    registered = volumes.read_each(client, wanted)
    for unread in registered.unread:
        remarks.add("not read", model.CLUSTER, 0, str(unread))
    if registered.volumes:
        remarks.add("note", model.CLUSTER, 0, SECRETS)
    ids = plugins.list_ids(client) if namespace == names.EVERYWHERE else {item.plugin_id for item in listed}
    chosen = [plugin_id] if plugin_id else sorted(ids)
    running = [plugin for each in chosen if (plugin := plugins.get(client, each)) is not None]
    keys = {("job", *key) for plugin in running for key in plugin.jobs} - in_files  # one job may run two plugins
    return Live(
        files=[*_jobs(client, keys, remarks), *(_volume(volume, remarks) for volume in registered.volumes)],
        providers={plugin.plugin_id: plugin.provider for plugin in running if plugin.provider},
    )


def _keys(files: Iterable[parsed.File]) -> set[tuple[str, str, str]]:
    """Return kind, namespace and id of each object in *files*."""
    jobs = {("job", job.namespace or "default", job.id) for file in files for job in file.jobs}
    contents = (content for file in files for content in file.volumes)
    return jobs | {
        ("volume", str(content.get("namespace") or "default"), str(content.get("id", ""))) for content in contents
    }


def _jobs(client: nomad.Nomad, keys: Iterable[tuple[str, str, str]], remarks: model.Remarks) -> Iterator[parsed.File]:
    """Yield the running jobs with these *keys*, as Nomad runs them: with its defaults in them."""
    for _, namespace, job_id in sorted(keys):
        name = f"job {namespace}/{job_id}"
        try:
            document = jobs.document(client, namespace, job_id)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            remarks.add("not read", model.CLUSTER, 0, f"{name}: the token lacks read-job there")
            continue
        if document is None or document.get("Stop"):
            continue
        read = job_files.jobs(values.without_lines(document))
        yield parsed.File(name=name, kind="job", jobs=read)


def _volume(volume: volumes.Volume, remarks: model.Remarks) -> parsed.File:
    name = f"volume {volume.key}"
    document = volume.registration()
    if not volume.required_topologies and volume.topologies:
        document = dataclasses.replace(document, required_topologies=volume.topologies)
    if volume.has_mount_flags:
        text = "Nomad has some but hides them; fill them in, or they are dropped"
        remarks.add("missing", name, 0, f"mount_options.mount_flags of {volume.key}: {text}")
    file = parsed.parse(documents.volume_file(document), name)
    return dataclasses.replace(file, volumes=tuple(values.without_lines(content) for content in file.volumes))
