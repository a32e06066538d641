"""What a doctor asks of AWS: the number of questions does not grow with clients, and hardly with volumes (by 200)."""

import contextvars
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from typing import Any, TypeVar

from nomad_csi import errors
from nomad_csi.aws import calls, ebs_volumes, file_systems, instances, regions
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import clients, machines, role_permissions, topology
from nomad_csi.health import gather

_Part = TypeVar("_Part")

ACCOUNT_S = 240.0
"""Seconds of all questions; those that are left then are not known."""


def region_of(found: facts.ObservedCluster, choice: regions.Choice) -> regions.Region:
    """Return the region of *choice*, by default of the clients and volumes; else of its default, or the environment."""

    def default() -> frozenset[str]:
        return choice.default() or frozenset({calls.region_of_environment()} - {""})

    return dataclasses.replace(choice, default=default).region(_places(found))


def _places(found: facts.ObservedCluster) -> Iterator[Mapping[str, str]]:
    for volume in found.known_volumes:
        yield from (*volume.segments, {regions.ZONE_KEYS[0]: volume.planned_zone})
    yield from (item.segments for plugin in found.known_plugins.values() for item in plugin.nodes)
    zones = (node.attributes.get(topology.ZONE_ATTRIBUTE, "") for node in found.known_clients)
    yield from ({regions.ZONE_KEYS[0]: zone} for zone in zones)


def add_account(found: facts.ObservedCluster, region: regions.Region) -> facts.ObservedCluster:
    """Return *found* with what AWS says in *region*; as it is where nothing is of AWS."""
    if not _uses_aws(found):
        return found
    if not region.name:
        left_out = facts.Unknown(reason=region.reason, is_expected=region.is_expected)
        return dataclasses.replace(found, account=left_out)
    with calls.within(ACCOUNT_S):
        return dataclasses.replace(found, account=_account(found, region.name))


def _uses_aws(found: facts.ObservedCluster) -> bool:
    drivers = {machines.EBS, machines.EFS} & set(machines.providers(found).values())
    return bool(drivers) or any(
        facts.is_ebs(item) or file_systems.parts(item.external_id) for item in found.known_volumes
    )


def _account(found: facts.ObservedCluster, region: str) -> facts.Account:
    ids = {item.external_id for item in found.known_volumes if ebs_volumes.is_ebs(item.external_id)}
    client = _asked(functools.partial(_client, region))
    ec2 = None if isinstance(client, facts.Unknown) else client  # whoever needs one says why there is none
    with futures.ThreadPoolExecutor(gather.WORKERS) as pool:
        machines_seen = _submit(
            pool, functools.partial(instances.read_instances, set(found.instance_ids.values()), region, ec2=ec2)
        )
        seen = _submit(pool, functools.partial(ebs_volumes.read_volumes, ids, region, ec2=ec2))
        ours = _submit(pool, functools.partial(ebs_volumes.ours, region, ec2=ec2))
        systems = _submit(pool, functools.partial(file_systems.read_file_systems, region))
    seen_volumes = seen.result()
    account = facts.Account(
        region=region,
        instances=machines_seen.result(),
        roles={},
        volumes=seen_volumes,
        ours=ours.result(),
        file_systems=_expected(found, systems.result()),
        keys={},
    )
    used = () if isinstance(seen_volumes, facts.Unknown) else seen_volumes.values()
    arns = sorted({item.kms_key_arn for item in used} - {""})
    found_keys = gather.run_in_parallel(
        functools.partial(_asked, functools.partial(ebs_volumes.read_key, arn, region)) for arn in arns
    )
    needed = role_permissions.needs(region, arns)
    profiles = sorted(_profiles(found, account))
    roles = gather.run_in_parallel(
        functools.partial(_asked, functools.partial(instances.read_role, item, region, needed.questions))
        for item in profiles
    )
    return dataclasses.replace(
        account,
        keys=dict(zip(arns, found_keys, strict=True)),
        roles=dict(zip(profiles, roles, strict=True)),
    )


def read_storage(external_ids: Sequence[str], region: regions.Region) -> facts.KnownStorage:
    """Return the storage among *external_ids* that AWS has in *region*; two requests and one for each file system."""
    if not region.name:
        unknown = facts.Unknown(reason=region.reason, is_expected=region.is_expected)
        return facts.KnownStorage(region="", volumes=unknown, file_systems=unknown)
    with calls.within(ACCOUNT_S):
        return facts.KnownStorage(
            region=region.name,
            volumes=_asked(functools.partial(ebs_volumes.read_volumes, external_ids, region.name)),
            file_systems=_asked(functools.partial(file_systems.find, external_ids, region.name)),
        )


def _submit(pool: futures.Executor, call: Callable[[], _Part]) -> futures.Future[_Part | facts.Unknown]:
    """Ask in another thread, within the deadline of this one."""
    return pool.submit(contextvars.copy_context().run, _asked, call)


def _client(region: str) -> Any:
    """Return a client of EC2 for several questions: to make one takes longer than to ask."""
    with calls.aws_errors(region):
        return calls.client("ec2", region)


def _asked(call: Callable[[], _Part]) -> _Part | facts.Unknown:
    try:
        return call()
    except errors.AwsError as error:
        return facts.Unknown(reason=str(error))


def _expected(
    found: facts.ObservedCluster, systems: file_systems.ObservedFileSystems | facts.Unknown
) -> file_systems.ObservedFileSystems | facts.Unknown:
    """Return *systems*; where nothing here is of EFS, no permission to see it is needed."""
    uses_efs = machines.EFS in machines.providers(found).values() or any(
        file_systems.parts(item.external_id) for item in found.known_volumes
    )
    if isinstance(systems, facts.Unknown) and not uses_efs:
        return dataclasses.replace(systems, is_expected=True)
    return systems


def _profiles(found: facts.ObservedCluster, account: facts.Account) -> set[str]:
    """Return the instance profiles of the clients that may run a controller of the EBS driver."""
    if isinstance(found.clients, facts.Unknown) or isinstance(account.instances, facts.Unknown):
        return set()
    seen = account.instances
    places_ = {
        found.instance_ids.get(node.node_id, "")
        for task in machines.tasks_of(found, machines.EBS)
        if task.role != "node" and not task.own_credentials
        for node in clients.runs_on(task, found.clients)
    }
    return {seen[item].profile_arn for item in places_ if item in seen} - {""}
