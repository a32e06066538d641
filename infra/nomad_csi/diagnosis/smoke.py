"""
Smoke test of a volume: write through its mount, release it, read it back on another client, and clean up.

A block device is never tested: a write would destroy its data. In a file system, one file of
`plan.smoke.SIZE_BYTES` is created and removed. The driver formats a volume that was never used, as for any
job.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import smoke_round
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import smoke

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
    tell: Callable[[str], None] = lambda _line: None,
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
        tell: logs each step.

    Raises:
        errors.RefusedError: the volume cannot be tested, with every reason, and nothing was run; or the read job has
            no room anywhere.
        errors.NomadCsiError: Nomad did not respond, or refused. If a file was written and is left behind, its name
            is in the error.

    """
    wanted = wish or smoke.Wish()
    volume, clients, chosen = _checked(client, key, wanted)
    watch = smoke_round.Watch(client, timeout_s=timeout_s, tell=tell)
    token = secrets.token_hex(8)
    mode = smoke.access_mode(volume.capabilities)

    def job(kind: smoke.Kind, where: Iterable[smoke.SmokeClient]) -> smoke.SmokeJob:
        return smoke.SmokeJob(
            job_id=f"nomad-csi-smoke-{kind}-{token}",
            namespace=volume.namespace,
            region=wanted.region,
            volume_id=volume.volume_id,
            access_mode=mode,
            task_driver=chosen,
            image=wanted.image,
            node_ids=[each.node_id for each in where],
            kind=kind,
            token=token,
            has_mounts=not sandbox,
        )

    done: list[smoke_round.SmokeRound] = []

    def may_be_written() -> bool:
        return watch.has_run and not sandbox and not (len(done) == _ROUNDS and not done[-1].reason)

    with _file_named(may_be_written, volume, token, tell):
        done.append(watch.run(job("write", clients)))
        no_room = ""
        if not done[0].reason:
            others = [each for each in clients if each.node_id != done[0].node_id]
            no_room = watch.objection(job("read", others)) if others else ""
            done.append(watch.run(job("read", clients if no_room or not others else others)))
        return _outcome(volume, done, chosen, token, aws, is_sandbox=bool(sandbox), no_room=no_room)


@contextlib.contextmanager
def _file_named(
    is_there: Callable[[], bool], volume: volumes.Volume, token: str, tell: Callable[[str], None]
) -> Iterator[None]:
    """Add the name of a file that is left behind to errors of the block; on an interrupt, log it."""
    left = f"the file {smoke.file_name(token)} may still be in volume {volume.key}"
    try:
        yield
    except errors.NomadCsiError as error:
        if not is_there():
            raise
        kind = errors.RefusedError if isinstance(error, errors.RefusedError) else errors.NomadCsiError
        raise kind(f"{error}; {left}") from error
    except BaseException:
        if is_there():
            tell(left)
        raise


def _checked(
    client: nomad.Nomad, key: tuple[str, str], wish: smoke.Wish
) -> tuple[volumes.Volume, tuple[smoke.SmokeClient, ...], str]:
    """Return the volume, the clients that may use it, and the task driver. Raises `errors.RefusedError`."""
    name = "/".join(key)
    volume = volumes.get(client, *key)
    if volume is None:
        advice = volumes.members(client, *key) or "see `nomad volume status -type csi`"
        raise errors.RefusedError(f"volume {name} is not registered: {advice}")
    fitting = _fitting(client, volume)
    driver = wish.task_driver or smoke.task_driver(fitting)
    able = tuple(each for each in fitting if driver in each.drivers)
    problems = [*_objection(volume), *_client_objection(volume, fitting, able, driver)]
    if problems:
        raise errors.RefusedError(f"volume {name} cannot be tried: {'; '.join(problems)}; nothing was run")
    return volume, able, driver


def _objection(volume: volumes.Volume) -> Iterable[str]:
    if not smoke.access_mode(volume.capabilities):
        found = ", ".join(f"{each.access_mode} {each.attachment_mode}" for each in volume.capabilities) or "none"
        yield (
            f"its capabilities ({found}) hold none in which files can be written ({', '.join(smoke.WRITER_MODES)}, "
            "each with file-system): a block device is not tried, because that would destroy what is on it"
        )
    if volume.claims:
        holders = volumes.holders(volume)
        yield f"it is in use by {holders}: stop these jobs first, or try a volume of the same class that is not in use"
    if not volume.schedulable:
        yield f"Nomad counts no healthy instances of plugin {volume.plugin_id} for it: see `nomad-csi verify`"


def _client_objection(
    volume: volumes.Volume, fitting: Sequence[smoke.SmokeClient], able: Sequence[smoke.SmokeClient], driver: str
) -> Iterable[str]:
    if not fitting:
        yield (
            f"no ready client has a healthy node instance of plugin {volume.plugin_id} in a place of the volume "
            f"({_places(volume)})"
        )
    elif not able:
        names = ", ".join(each.name for each in fitting[:5])
        allowed = ", ".join(smoke.TASK_DRIVERS)
        yield f"none of its clients ({names}) has the task driver {driver or 'to mount it'}; one of {allowed} is needed"


def _places(volume: volumes.Volume) -> str:
    return " or ".join(map(volumes.place_text, volume.topologies)) or "anywhere"


def _fitting(client: nomad.Nomad, volume: volumes.Volume) -> tuple[smoke.SmokeClient, ...]:
    """Return the ready clients with a healthy node plugin in the topology of the volume."""
    plugin = plugins.get(client, volume.plugin_id)
    instances = plugin.nodes if plugin else ()
    healthy = {each.node_id: each for each in instances if each.healthy}
    return tuple(
        smoke.SmokeClient(
            node_id=node.node_id,
            name=node.name,
            drivers=frozenset(name for name, is_healthy in node.drivers.items() if is_healthy),
        )
        for node in nodes.list_nodes(client)
        if node.status == "ready"
        and node.eligible
        and not node.draining
        and node.node_id in healthy
        and (not volume.topologies or volumes.reaches(volume.topologies, healthy[node.node_id].segments))
    )


def _outcome(
    volume: volumes.Volume,
    done: Sequence[smoke_round.SmokeRound],
    task_driver: str,
    token: str,
    aws: regions.Choice,
    *,
    is_sandbox: bool,
    no_room: str,
) -> smoke_round.SmokeOutcome:
    failed = any(each.reason for each in done)
    verified, not_verified = (
        list(_verified(done, is_sandbox=is_sandbox)),
        list(_not_verified(done, is_sandbox=is_sandbox, no_room=no_room)),
    )
    if ebs_volumes.is_ebs(volume.external_id):  # only EBS volumes are attached to instances
        is_detached, seen = _in_ec2(volume, aws)
        (verified if is_detached else not_verified).append(seen)
    left = [line for each in done for line in each.left_behind]
    if failed and not is_sandbox and any(each.times.mount_s is not None for each in done):
        left.append(f"the file {smoke.file_name(token)} may still be in the volume")
    return smoke_round.SmokeOutcome(
        namespace=volume.namespace,
        volume_id=volume.volume_id,
        status="failed" if failed else "not verified" if is_sandbox else "verified",
        task_driver=task_driver,
        access_mode=smoke.access_mode(volume.capabilities),
        rounds=tuple(done),
        verified=tuple(verified),
        not_verified=tuple(not_verified),
        left_behind=tuple(left),
    )


def _in_ec2(volume: volumes.Volume, aws: regions.Choice) -> tuple[bool, str]:
    """Return whether EC2 has *volume* detached, and what is known of it."""
    region = aws.region_of_volumes([volume])
    if not region.name:
        return False, f"detached in EC2: {region.reason}"
    try:
        seen = ebs_volumes.read_attachments([volume.external_id], region.name).volumes[volume.external_id]
    except errors.AwsError as error:
        return False, f"detached in EC2: {error}"
    return seen.is_free, f"EC2: {seen}"


def _verified(rounds: Sequence[smoke_round.SmokeRound], *, is_sandbox: bool) -> Iterable[str]:
    for each in rounds:
        if each.reason:
            return
        if is_sandbox:
            yield f"{each.node_name}: claimed, a task ran, the claim was freed"
        elif each.kind == "write":
            yield f"{each.node_name}: claimed, mounted, {smoke.SIZE_BYTES >> 20} MiB written and read, freed"
        else:
            yield f"{each.node_name}: claimed again, the same data read back after unmounting, the file removed, freed"


def _not_verified(done: Sequence[smoke_round.SmokeRound], *, is_sandbox: bool, no_room: str) -> Iterable[str]:
    if is_sandbox:
        yield "mounts and data: the plugins of the sandbox mount nothing, so nothing was written"
    if len(done) == 1:
        yield "reading back: the first job failed"
    elif done[0].node_id == done[1].node_id:
        why = (
            f"no room on the others ({no_room})"
            if no_room
            else "only one has the plugin, the task driver and a place of the volume"
        )
        yield f"another client: {why}"
