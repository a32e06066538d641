"""Read the cluster from Nomad: five lists, and each client, plugin, job of a plugin and policy of the token."""

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, TypeVar
from urllib import parse

import pydantic

from nomad_csi import errors, nomad
from nomad_csi.aws import instances
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import clients, machines
from nomad_csi.health import clients as client_cache
from nomad_csi.health import eligibility, gather
from nomad_csi.nomad import jobs, nodes, plugins, replies, request, tokens, volumes
from nomad_csi.plan import model as plans
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.volumes import owner_records, ownership

# Propagation of the mount of Nomad's data directory, if the agent is a client on this machine.
#
# Source: proc(5), ``/proc/pid/mountinfo``: a field ``shared:N`` before the dash; path names in octal escapes.


MOUNTS = Path("/proc/self/mountinfo")

_FIELDS = 6
"""Fixed fields of a line: mount point is the fifth, options of the mount the sixth."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Agent(replies.Record):
    node_id: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("stats", "client", "node_id"))] = ""
    data_dir: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("config", "DataDir"))] = ""


def seen_here(client: nomad.Nomad) -> dict[str, str] | facts.Unknown:
    """
    Return ``shared`` or ``private`` by node id for the client on this machine; empty: there is none.

    A token that may not read the agent is no error: other checks cover the same fault.
    """
    if not names.is_loopback(parse.urlsplit(client.connection.address).hostname or ""):
        return {}
    path = request.path_of("agent", "self")
    try:
        item = replies.read(client.request("GET", path), _Agent)
        text = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except errors.NomadApiError as error:
        return facts.Unknown(reason=str(error), is_expected=error.status == HTTPStatus.FORBIDDEN)
    except OSError as error:
        return facts.Unknown(reason=f"{MOUNTS} cannot be read: {error.strerror}")
    node_id, data_dir = item.node_id, item.data_dir
    if not node_id or not data_dir or not Path(data_dir).is_dir():
        return {}
    return {node_id: propagation(text, str(Path(data_dir).resolve()))}


def propagation(mounts: str, path: str) -> str:
    """Return the propagation of the mount that contains *path*: ``shared`` or ``private``."""
    best, found = -1, "private"
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) <= _FIELDS:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        is_above = point in {"/", path} or path.startswith(f"{point}/")
        if is_above and len(point) >= best:  # of two on one mount point the later one is on top
            options = fields[_FIELDS : fields.index("-")]
            best, found = len(point), "shared" if any(item.startswith("shared:") for item in options) else "private"
    return found


# Requests to Nomad.


_LISTS = 5
"""Requests that all others depend on."""

_INSTANCE_ATTRIBUTE = "unique.platform.aws.instance-id"
_Part = TypeVar("_Part")


def read_cluster(
    client: nomad.Nomad,
    plan: plans.StoragePlan | None,
    external_ids: Mapping[str, str],
    *,
    names_instances: bool = True,
) -> facts.ObservedCluster:
    """
    Return the observed cluster. Raises `errors.NomadApiError` if no request succeeds.

    With *names_instances*, clients that may run an AWS driver get their EC2 instance, if no plugin reports it.
    """
    failed: list[errors.NomadApiError] = []
    with futures.ThreadPoolExecutor(gather.WORKERS) as pool:
        on_servers = pool.submit(_asked, functools.partial(nodes.list_servers, client), failed)
        listed = pool.submit(_asked, functools.partial(nodes.list_nodes, client), failed)
        running = pool.submit(_asked, functools.partial(_plugins, client), failed)
        registered = pool.submit(_asked, functools.partial(volumes.list_volumes, client, names.EVERYWHERE), failed)
        token = pool.submit(_asked, functools.partial(tokens.own, client), failed)
    if len(failed) == _LISTS and all(error.status is None for error in failed):
        raise failed[0]
    found_plugins, held = running.result(), registered.result()
    hidden: dict[str, str] = {}
    stopped: set[tuple[str, str]] = set()
    tasks = _tasks(client, found_plugins, plan, hidden, stopped)
    found = facts.ObservedCluster(
        servers=on_servers.result(),
        clients=listed.result(),
        plugins=found_plugins,
        tasks=tasks,
        hidden_jobs=hidden,
        stopped_jobs=frozenset(stopped),
        volumes=held if isinstance(held, facts.Unknown) else tuple(_volumes(held, plan, external_ids)),
        token=token.result(),
        account=None,
        plan=plan,
        namespace=client.connection.namespace,
        owner_records=_owner_records(client, held),
        mounts=seen_here(client),
    )
    return _add_clients(client, found, names_instances=names_instances)


def add_claims(client: nomad.Nomad, found: facts.ObservedCluster) -> facts.ObservedCluster:
    """Return *found* with the claims on volumes, which are read only where a client or a plugin may be missing."""
    claimed = [item.key.partition("/") for item in found.known_volumes if item.claims]
    is_leaving = any(node.draining or not node.eligible for node in found.known_clients)
    claimed_of = {item.plugin_id for item in found.known_volumes if item.claims}
    if not claimed or not (is_leaving or any(_lacks_nodes(found, plugin_id) for plugin_id in claimed_of)):
        return found
    try:
        seen = volumes.read_each(client, ((namespace, volume_id) for namespace, _, volume_id in claimed))
    except errors.NomadApiError as error:
        return dataclasses.replace(found, claimed=facts.Unknown(reason=str(error)))
    unread = "; ".join(str(item) for item in seen.unread)
    return dataclasses.replace(found, claimed=facts.Unknown(reason=unread) if unread else seen.volumes)


def _lacks_nodes(found: facts.ObservedCluster, plugin_id: str) -> bool:
    """Return whether a client that is ready has no healthy node instance of the plugin."""
    plugin = found.known_plugins.get(plugin_id)
    healthy = {item.node_id for item in plugin.nodes if item.healthy} if plugin else set()
    return any(node.status == "ready" and node.node_id not in healthy for node in found.known_clients)


def _asked(call: Callable[[], _Part], failed: list[errors.NomadApiError]) -> _Part | facts.Unknown:
    """Return the result of *call*, or why it failed; the error is added to *failed*."""
    try:
        return call()
    except errors.NomadApiError as error:
        failed.append(error)
        return facts.Unknown(reason=str(error))


def _owner_records(
    client: nomad.Nomad, held: Iterable[volumes.ListedVolume] | facts.Unknown
) -> dict[str, owner_records.OwnerRecord] | facts.Unknown:
    """Return the owner records in the namespaces of volumes. Optional: a token that may not read them is no error."""
    namespaces = {client.connection.namespace}
    namespaces |= set() if isinstance(held, facts.Unknown) else {item.namespace for item in held}
    records = ownership.OwnerRecords(client)
    try:
        listed = [records.list_all(namespace) for namespace in sorted(namespaces)]
    except errors.NomadApiError as error:
        return facts.Unknown(reason=str(error), is_expected=error.status == HTTPStatus.FORBIDDEN)
    return {"/".join(key): record for found in listed for key, record in found.items()}


def _plugins(client: nomad.Nomad) -> dict[str, plugins.Plugin]:
    ids = plugins.list_ids(client)
    found = gather.run_in_parallel(functools.partial(plugins.get, client, plugin_id) for plugin_id in ids)
    return {plugin.plugin_id: plugin for plugin in found if plugin is not None}


def _tasks(
    client: nomad.Nomad,
    found: Mapping[str, plugins.Plugin] | facts.Unknown,
    plan: plans.StoragePlan | None,
    hidden: dict[str, str],
    stopped: set[tuple[str, str]],
) -> tuple[jobs.PluginTask, ...] | facts.Unknown:
    """
    Return the plugin tasks of running jobs, and of the spec's others.

    *hidden* gets the reasons of jobs that may not be read, *stopped* the keys of stopped ones.
    """
    running = {} if isinstance(found, facts.Unknown) else found
    planned = {(job.namespace, job.job_id): job for item in (plan.plugins if plan else ()) for job in item.jobs}
    keys = sorted({key for plugin in running.values() for key in plugin.jobs} | set(planned))
    try:
        answers = gather.run_in_parallel(functools.partial(_tasks_of, client, key, hidden, stopped) for key in keys)
    except errors.NomadApiError as error:
        return facts.Unknown(reason=str(error))
    if isinstance(found, facts.Unknown) and not planned:
        return found
    by_key = dict(zip(keys, answers, strict=True))
    own = (jobs.tasks_of_plan(job) for key, job in planned.items() if not by_key[key])
    return (*(task for answer in answers for task in answer), *own)


def _tasks_of(
    client: nomad.Nomad, key: tuple[str, str], hidden: dict[str, str], stopped: set[tuple[str, str]]
) -> tuple[jobs.PluginTask, ...]:
    """Return the plugin tasks of a job; none if it is absent, stopped, or the token may not read its namespace."""
    try:
        item = jobs.document(client, *key)
        if item is not None and item.get("Stop"):
            stopped.add(key)
            return ()
        return () if item is None else jobs.tasks_of_document(item)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        hidden["/".join(key)] = str(error)
        return ()


def _volumes(
    held: Iterable[volumes.ListedVolume], plan: plans.StoragePlan | None, external_ids: Mapping[str, str]
) -> Iterator[facts.ExaminedVolume]:
    planned = {item.key: item for item in plan.volumes} if plan else {}
    registered = set()
    for item in held:
        key = f"{item.namespace}/{item.volume_id}"
        registered.add(key)
        yield facts.ExaminedVolume(
            key=key,
            external_id=item.external_id,
            plugin_id=item.plugin_id,
            segments=item.topologies,
            claims=item.readers + item.writers,
            schedulable=item.schedulable,
            size_bytes=_size_bytes(planned.get(key)),
            must_be_encrypted=_is_encrypted(planned.get(key)),
        )
    for key, wanted in planned.items():
        if key not in registered:
            external_id = wanted.registration.external_id or external_ids.get(key, "")
            yield facts.ExaminedVolume(
                key=key,
                external_id=external_id,
                plugin_id=wanted.registration.plugin_id,
                segments=wanted.registration.required_topologies,
                schedulable=False,
                is_registered=False,
                size_bytes=_size_bytes(wanted),
                planned_zone=wanted.source.availability_zone if isinstance(wanted.source, spec.EbsSpec) else "",
                must_be_encrypted=_is_encrypted(wanted),
            )


def _size_bytes(planned: plans.VolumePlan | None) -> int:
    source = planned.source if planned else None
    if isinstance(source, spec.EbsSpec):
        return source.size_gib * 2**30
    return (planned.registration.capacity_min_bytes or 0) if planned else 0


def _is_encrypted(planned: plans.VolumePlan | None) -> bool:
    source = planned.source if planned else None
    return isinstance(source, spec.EbsSpec | spec.EfsSpec) and source.encrypted


def _add_clients(client: nomad.Nomad, found: facts.ObservedCluster, *, names_instances: bool) -> facts.ObservedCluster:
    """Return *found* with the clients' attributes that jobs need, their zones, and their EC2 instances."""
    if isinstance(found.clients, facts.Unknown):
        return found
    wanted = [clients.ignore_task_driver(task) for task in found.known_tasks]
    by_plugin = dict(_instances_of_plugins(found))
    unnamed = {node.node_id for node in found.clients if names_instances and _may_be_on_aws(found, node, by_plugin)}
    node_ids = {node.node_id for node in found.clients}
    try:
        filled = client_cache.ClientCache(client).add_attributes(found.clients, wanted, node_ids)
    except errors.NomadApiError as error:
        return dataclasses.replace(found, clients=facts.Unknown(reason=str(error)))
    by_attribute = {
        node.node_id: node.attributes[_INSTANCE_ATTRIBUTE]
        for node in filled
        if node.node_id in unnamed and instances.is_instance(node.attributes.get(_INSTANCE_ATTRIBUTE, ""))
    }
    return dataclasses.replace(found, clients=filled, instance_ids=by_attribute | by_plugin)


def _instances_of_plugins(found: facts.ObservedCluster) -> Iterator[tuple[str, str]]:
    """Yield clients with their EC2 instance, as AWS drivers report it."""
    for plugin in found.known_plugins.values():
        for item in plugin.nodes:
            if plugin.provider in {machines.EBS, machines.EFS} and instances.is_instance(item.storage_node_id):
                yield item.node_id, item.storage_node_id


def _may_be_on_aws(found: facts.ObservedCluster, node: nodes.Node, known: Mapping[str, str]) -> bool:
    """Return whether *node* may run an AWS driver, regardless of constraints, and its instance is not known yet."""
    on_aws = [*machines.tasks_of(found, machines.EBS), *machines.tasks_of(found, machines.EFS)]
    anywhere = [clients.ignore_task_driver(task) for task in on_aws]
    return node.node_id not in known and any(eligibility.may_run(task, node) for task in anywhere)
