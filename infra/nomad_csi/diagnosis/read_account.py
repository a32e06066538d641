"""What is asked of AWS: the number of questions does not grow with clients, and hardly with volumes (by 200)."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from nomad_csi import concurrency, errors
from nomad_csi.aws import calls, ebs_volumes, file_systems, instances, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import clients, machines, plugins
from nomad_csi.health import eligibility, gather

_Part = TypeVar("_Part")

_INSTANCE_ATTRIBUTE = "unique.platform.aws.instance-id"


class AccountFacts(facts.Facts):
    """The facts of a cluster and of the account in which its clients run."""

    @functools.cached_property
    def region(self) -> regions.Region:
        """The region that is named, else that of clients and volumes, of the spec, or of the environment."""
        choice = self.aws or regions.LEFT_OUT

        def default() -> frozenset[str]:
            return choice.default() or frozenset({calls.region_of_environment()} - {""})

        return dataclasses.replace(choice, default=default).region(self._segments())

    def _segments(self) -> Iterator[Mapping[str, str]]:
        for volume in facts.known_or(self.volumes, ()):
            yield from (*volume.segments, {regions.ZONE_KEYS[0]: volume.planned_zone})
        yield from (item.segments for plugin in facts.known_or(self.plugins, {}).values() for item in plugin.nodes)
        zones = (node.attributes.get(eligibility.CLIENT_ATTRIBUTES[0], "") for node in facts.known_or(self.clients, ()))
        yield from ({regions.ZONE_KEYS[0]: zone} for zone in zones)

    @concurrency.read_once
    def instance_ids(self) -> Mapping[str, str]:
        """EC2 instances of the clients, by Nomad's fingerprint."""
        ids = {node.node_id: node.attributes.get(_INSTANCE_ATTRIBUTE, "") for node in facts.known_or(self.clients, ())}
        return {node_id: item for node_id, item in ids.items() if aws_records.is_instance(item)}

    @facts.part
    def account(self) -> facts.Account | None:
        """What AWS has in the region; ``None`` where nothing is of AWS."""
        drivers = {machines.EBS, machines.EFS} & set(plugins.providers(self).values())
        if not drivers and not any(
            facts.is_ebs(item) or aws_records.parts(item.external_id) for item in facts.known_or(self.volumes, ())
        ):
            return None
        if not self.region.name:
            raise facts.NotKnownError(facts.Unknown(reason=self.region.reason, is_expected=self.region.is_expected))
        return _account(self, self.region.name)

    @facts.part
    def storage(self) -> facts.KnownStorage | None:
        """The storage of the volumes, as the account has it."""
        return facts.value(self.account)


def _account(cluster: facts.Facts, region: str) -> facts.Account:
    ids = {item.external_id for item in facts.known_or(cluster.volumes, ()) if aws_records.is_ebs(item.external_id)}
    machine_ids = set(cluster.instance_ids.values())
    questions: list[Callable[[], Any]] = [
        functools.partial(instances.read_instances, machine_ids, region),
        functools.partial(ebs_volumes.read_volumes, ids, region),
        functools.partial(ebs_volumes.ours, region),
        functools.partial(file_systems.read_file_systems, region),
    ]
    ec2_instances, disks, ours, systems = _ask_all(questions)
    account = facts.Account(
        region=region,
        instances=ec2_instances,
        roles={},
        volumes=disks,
        ours=ours,
        file_systems=_expected(cluster, systems),
        keys={},
    )
    used = () if isinstance(disks, facts.Unknown) else disks.values()
    arns = sorted({item.kms_key_arn for item in used} - {""})
    profiles = sorted(_profiles(cluster, account))
    keys = _ask_all(functools.partial(ebs_volumes.key_state, arn, region) for arn in arns)
    roles = _ask_all(functools.partial(instances.read_role, item, region) for item in profiles)
    return dataclasses.replace(
        account, keys=dict(zip(arns, keys, strict=True)), roles=dict(zip(profiles, roles, strict=True))
    )


def read_storage(external_ids: Sequence[str], region: regions.Region) -> facts.KnownStorage:
    """Return the storage that AWS has in *region*: the EBS volumes among *external_ids*, and EFS's if one is there."""
    if not region.name:
        unknown = facts.Unknown(reason=region.reason, is_expected=region.is_expected)
        return facts.KnownStorage(region="", volumes=unknown, file_systems=unknown)
    systems: aws_records.ObservedFileSystems | facts.Unknown = aws_records.ObservedFileSystems()
    if any(map(aws_records.parts, external_ids)):
        systems = _asked(functools.partial(file_systems.read_file_systems, region.name))
    volumes = _asked(functools.partial(ebs_volumes.read_volumes, external_ids, region.name))
    return facts.KnownStorage(region=region.name, volumes=volumes, file_systems=systems)


def _asked(call: Callable[[], _Part]) -> _Part | facts.Unknown:
    try:
        return call()
    except errors.AwsError as error:
        return facts.Unknown(reason=str(error))


def _ask_all(questions: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return the answers, or why there is none, in the order of *questions*."""
    return gather.run_in_parallel(functools.partial(_asked, question) for question in questions)


def _expected(
    cluster: facts.Facts, systems: aws_records.ObservedFileSystems | facts.Unknown
) -> aws_records.ObservedFileSystems | facts.Unknown:
    """Return *systems*; where nothing here is of EFS, no permission to see it is needed."""
    uses_efs = machines.EFS in plugins.providers(cluster).values() or any(
        aws_records.parts(item.external_id) for item in facts.known_or(cluster.volumes, ())
    )
    if isinstance(systems, facts.Unknown) and not uses_efs:
        return dataclasses.replace(systems, is_expected=True)
    return systems


def _profiles(cluster: facts.Facts, account: facts.Account) -> set[str]:
    """Return the instance profiles of the clients that may run a controller of the EBS driver."""
    if isinstance(cluster.clients, facts.Unknown) or isinstance(account.instances, facts.Unknown):
        return set()
    ec2_instances, ids = account.instances, cluster.instance_ids
    machines_of = {
        ids.get(node.node_id, "")
        for task in plugins.tasks_of(cluster, machines.EBS)
        if task.role != "node" and not task.own_credentials
        for node in clients.runs_on(task, cluster.clients)
    }
    return {ec2_instances[item].profile_arn for item in machines_of if item in ec2_instances} - {""}
