"""
Read volumes and plugin jobs from a cluster, in the shape of files. Read-only.

Values that Nomad never returns (secrets, mount flags) are reported and never guessed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nomad_csi import errors, nomad
from nomad_csi.hcl import api, values
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as job_files
from nomad_csi.migration import model
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import jobs as planned
from nomad_csi.spec import names
from nomad_csi.text import listing

SECRETS = (
    "Nomad shows neither the secrets of volumes nor whether there are any: if the driver needs them, "
    "pass them by `apply --secrets`, or as Pulumi config secrets, under secrets of the volume"
)


@dataclass(frozen=True, kw_only=True)
class Live:
    """Volumes and plugin jobs of a cluster."""

    files: tuple[parsed.File, ...]
    """Jobs and volumes, each as a file named after the object."""

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
    every = _volumes(client, namespace, plugin_id, remarks)
    found = tuple(volume for volume in every if ("volume", volume.namespace, volume.volume_id) not in in_files)
    if found:
        remarks.add("note", model.CLUSTER, 0, SECRETS)
    if plugin_id:
        wanted = [plugin_id]
    elif namespace == names.EVERYWHERE:
        wanted = list(plugins.list_ids(client))
    else:
        wanted = sorted({volume.plugin_id for volume in every})
    running = {each: plugin for each in wanted if (plugin := plugins.get(client, each)) is not None}
    jobs = {
        (job.namespace, job.job_id): job  # one job may run two plugins
        for plugin in running.values()
        for job in _jobs(client, plugin, remarks)
        if ("job", job.namespace, job.job_id) not in in_files
    }
    return Live(
        files=(
            *(_job(job, remarks) for job in jobs.values()),
            *(_volume(volume, remarks) for volume in found),
        ),
        providers={each: plugin.provider for each, plugin in running.items() if plugin.provider},
    )


def _keys(files: Iterable[parsed.File]) -> set[tuple[str, str, str]]:
    """Return kind, namespace and id of each object in *files*."""
    jobs = {("job", job.namespace or "default", job.id) for file in files for job in file.jobs}
    found = (content for file in files for content in file.volumes)
    return jobs | {
        ("volume", str(content.get("namespace") or "default"), str(content.get("id", ""))) for content in found
    }


def _volumes(client: nomad.Nomad, namespace: str, plugin_id: str, remarks: model.Remarks) -> tuple[volumes.Volume, ...]:
    listed = volumes.list_volumes(client, namespace)
    wanted = ((item.namespace, item.volume_id) for item in listed if plugin_id in ("", item.plugin_id))
    found = volumes.read_each(client, wanted)
    for unread in found.unread:
        remarks.add("not read", model.CLUSTER, 0, str(unread))
    return found.volumes


def _jobs(client: nomad.Nomad, plugin: plugins.Plugin, remarks: model.Remarks) -> list[jobs.RunningJob]:
    found = list(jobs.jobs_of_plugin(client, plugin))
    if hidden := [f"{job.namespace}/{job.job_id}" for job in found if job.document is None]:
        text = f"jobs of plugin {plugin.plugin_id} ({listing.shortened(hidden)}): the token lacks read-job there"
        remarks.add("not read", model.CLUSTER, 0, text)
    return [job for job in found if job.document is not None]


def _job(job: jobs.RunningJob, remarks: model.Remarks) -> parsed.File:
    name = f"job {job.namespace}/{job.job_id}"
    document = dict(job.document or {})
    meta = dict(document.get("Meta") or {})
    owner = meta.pop(planned.OWNER_META, "")
    if owner:
        document["Meta"] = meta
        remarks.add(
            "note", name, 0, f"it belongs to the stack {owner}: another stack takes it over with adopt: true only"
        )
    if job.source:
        try:
            return parsed.parse(job.source, name)
        except errors.SpecError as error:
            why = f"the submitted job file cannot be read ({error.problems[0]})"
    else:
        why = "Nomad does not have the submitted job file, or has it with variables"
    remarks.add("note", name, 0, f"{why}; read from the job as Nomad runs it, with Nomad's defaults in it")
    read = job_files.jobs(values.without_lines(document))
    return parsed.File(name=name, kind="job", form="json", jobs=read)


def _volume(volume: volumes.Volume, remarks: model.Remarks) -> parsed.File:
    key = volume.key
    name = f"volume {key}"
    payload = volumes.payload(volume.registration())
    if not volume.required_topologies and volume.topologies:
        payload["Topologies"] = [{"Segments": dict(segments)} for segments in volume.topologies]
        text = "registered without a topology_request: its topologies come from the plugin; Nomad ignores added ones"
        remarks.add("note", name, 0, text)
    if volume.has_mount_flags:
        text = f"mount_options.mount_flags of {key}: Nomad has some but hides them; fill them in, or they are dropped"
        remarks.add("missing", name, 0, text)
    read = tuple(api.volumes(values.without_lines(payload)))
    return parsed.File(name=name, kind="volume", form="json", volumes=read)
