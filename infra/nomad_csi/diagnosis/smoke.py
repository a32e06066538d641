"""
Smoke test of a volume: write through its mount, release it, read it back on another client, and clean up.

A block device is never tested: a write would destroy its data. In a file system, one file of
`plan.smoke.SIZE_BYTES` is created and removed. The driver formats a volume that was never used, as for any
job.
"""

import dataclasses
import secrets
from collections.abc import Callable, Iterable, Sequence

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import smoke_round
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import smoke
from nomad_csi.text import listing

TIMEOUT_S = 300.0
"""For each step of a job: placement, run, release of the claim. Attaching an EBS volume may take minutes."""

_ROUNDS = 2
"""Write and read."""


def try_out(
    client: nomad.Nomad,
    key: tuple[str, str],
    *,
    wish: smoke.Wish | None = None,
    timeout_s: float = TIMEOUT_S,
    aws: regions.Choice = regions.LEFT_OUT,
    sandbox: str = "",
    report: Callable[[str], None] = lambda _line: None,
) -> smoke_round.SmokeOutcome:
    """
    Test the volume *key* (namespace, id) and return what was verified.

    Args:
        client: the cluster; its token needs ``submit-job``, ``read-job`` and ``csi-mount-volume`` in the namespace.
        key: namespace and id of the volume.
        wish: choices of the caller.
        timeout_s: for each step.
        aws: region in which EC2 is queried whether the volume is detached afterwards.
        sandbox: the mark of the sandbox, where plugins mount nothing and nothing is written; empty: a real cluster.
        report: logs each step.

    Raises:
        errors.RefusedError: the volume cannot be tested, with every reason, and nothing was run; or the read job has
            no room anywhere.
        errors.NomadCsiError: Nomad did not respond, or refused. The file that was reported may be left behind.

    """
    wanted = wish or smoke.Wish()
    volume, clients, task_driver = _checked(client, key, wanted)
    watch = smoke_round.Watch(client, timeout_s=timeout_s, report=report)
    write = smoke.SmokeJob(
        job_id=f"nomad-csi-smoke-write-{(token := secrets.token_hex(8))}",
        namespace=volume.namespace,
        region=wanted.region,
        volume_id=volume.volume_id,
        access_mode=smoke.access_mode(volume.capabilities),
        task_driver=task_driver,
        image=wanted.image,
        node_ids=[each.node_id for each in clients],
        kind="write",
        token=token,
        has_mounts=not sandbox,
    )
    if not sandbox:
        report(f"writing {smoke.file_name(token)} into volume {volume.key}; the read job removes it")
    done = [watch.run(write)]
    if not done[0].reason:
        read = dataclasses.replace(write, kind="read", job_id=f"nomad-csi-smoke-read-{token}")
        others = dataclasses.replace(read, node_ids=[each for each in write.node_ids if each != done[0].node_id])
        done.append(watch.run(read if not others.node_ids or watch.objection(others) else others))
    return _outcome(volume, done, write, aws)


def _checked(
    client: nomad.Nomad, key: tuple[str, str], wish: smoke.Wish
) -> tuple[volumes.Volume, tuple[nodes.Node, ...], str]:
    """Return the volume, the clients that may use it, and the task driver. Raises `errors.RefusedError`."""
    name = "/".join(key)
    volume = volumes.get(client, *key)
    if volume is None:
        raise errors.RefusedError(f"volume {name} is not registered: see `nomad volume status -type csi`")
    fitting = _fitting(client, volume)
    driver = wish.task_driver or smoke.task_driver([each.drivers for each in fitting])
    able = tuple(each for each in fitting if each.drivers.get(driver))
    problems = [*_objections(volume)]
    if not fitting:
        topologies = " or ".join(map(volumes.topology_text, volume.topologies)) or "anywhere"
        problems.append(
            f"no ready client in a topology of the volume ({topologies}) has a healthy node instance of plugin "
            f"{volume.plugin_id}"
        )
    elif not able:
        names, allowed = listing.shortened([each.name for each in fitting]), ", ".join(smoke.TASK_DRIVERS)
        problems.append(f"none of its clients ({names}) has the task driver {driver or allowed}")
    if problems:
        raise errors.RefusedError(f"volume {name} cannot be tried: {'; '.join(problems)}; nothing was run")
    return volume, able, driver


def _objections(volume: volumes.Volume) -> Iterable[str]:
    if not smoke.access_mode(volume.capabilities):
        modes = ", ".join(f"{each.access_mode} {each.attachment_mode}" for each in volume.capabilities) or "none"
        yield (
            f"its capabilities ({modes}) hold none in which files can be written ({', '.join(smoke.WRITER_MODES)}, "
            "each with file-system): a block device is not tried, because that would destroy what is on it"
        )
    if volume.claims:
        holders = volumes.holders(volume)
        yield f"it is in use by {holders}: stop these jobs first, or try a volume of the same class that is not in use"
    if not volume.schedulable:
        yield f"Nomad counts no healthy instances of plugin {volume.plugin_id} for it: see `nomad-csi verify`"


def _fitting(client: nomad.Nomad, volume: volumes.Volume) -> tuple[nodes.Node, ...]:
    """Return the ready clients with a healthy node plugin in the topology of the volume."""
    plugin = plugins.get(client, volume.plugin_id)
    instances = plugin.nodes if plugin else ()
    healthy = {each.node_id: each for each in instances if each.healthy}
    return tuple(
        node
        for node in nodes.list_nodes(client)
        if node.status == "ready"
        and node.eligible
        and not node.draining
        and node.node_id in healthy
        and (not volume.topologies or volumes.reaches(volume.topologies, healthy[node.node_id].segments))
    )


def _outcome(
    volume: volumes.Volume, done: Sequence[smoke_round.SmokeRound], job: smoke.SmokeJob, aws: regions.Choice
) -> smoke_round.SmokeOutcome:
    failed = any(each.reason for each in done)
    verified = [_verified(each, has_mounts=job.has_mounts) for each in done if not each.reason]
    not_verified = []
    if not job.has_mounts:
        not_verified.append("mounts and data: the plugins of the sandbox mount nothing, so nothing was written")
    if len(done) < _ROUNDS:
        not_verified.append("reading back: the first job failed")
    elif done[0].node_id == done[1].node_id:
        not_verified.append(
            "another client: no other one has the plugin, the task driver, room for the task and the volume's topology"
        )
    if aws_records.is_ebs(volume.external_id):  # only EBS volumes are attached to instances
        is_detached, evidence = _in_ec2(volume, aws)
        (verified if is_detached else not_verified).append(evidence)
    left = [line for each in done for line in each.left_behind]
    if failed and job.has_mounts and any(each.times.mount_s is not None for each in done):
        left.append(f"the file {smoke.file_name(job.token)} may still be in the volume")
    return smoke_round.SmokeOutcome(
        namespace=volume.namespace,
        volume_id=volume.volume_id,
        status="failed" if failed else "verified" if job.has_mounts else "not verified",
        task_driver=job.task_driver,
        access_mode=job.access_mode,
        rounds=tuple(done),
        verified=tuple(verified),
        not_verified=tuple(not_verified),
        left_behind=tuple(left),
    )


def _verified(done: smoke_round.SmokeRound, *, has_mounts: bool) -> str:
    if not has_mounts:
        return f"{done.node_name}: claimed, a task ran, the claim was freed"
    if done.kind == "write":
        return f"{done.node_name}: claimed, mounted, {smoke.SIZE_BYTES >> 20} MiB written and read, freed"
    return f"{done.node_name}: claimed again, the same data read back after unmounting, the file removed, freed"


def _in_ec2(volume: volumes.Volume, aws: regions.Choice) -> tuple[bool, str]:
    """Return whether EC2 has *volume* detached, and what is known of it."""
    region = aws.region_of_volumes([volume])
    if not region.name:
        return False, f"detached in EC2: {region.reason}"
    try:
        ebs = ebs_volumes.read_attachments([volume.external_id], region.name).volumes[volume.external_id]
    except errors.AwsError as error:
        return False, f"detached in EC2: {error}"
    return ebs.is_free, f"EC2: {ebs}"
