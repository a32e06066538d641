"""
States of a cluster by name, each caused on an emulated one: two plugins, six clients in three zones, three volumes.

A state is named by its true cause. ``cluster_states.yaml`` has what each command says of it, which was read and found
right, and ``cluster_rows.txt`` every row of their JSON that is not the same where all is well.
`python -m tests.diagnosis.cluster_states` writes both as they are now.
"""

import contextlib
import copy
import dataclasses
import io
import json
import re
import tempfile
from pathlib import Path
from unittest import mock

import yaml

from nomad_csi import cli, errors
from nomad_csi.hcl import documents
from nomad_csi.nomad import request, volumes
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad import cluster, crowd, server
from nomad_csi_sandbox.nomad.storage import plugins as records
from nomad_csi_sandbox.nomad.tasks import events
from tests import tables

TABLE = Path(__file__).with_suffix(".yaml")
ROWS = Path(__file__).with_name("cluster_rows.txt")
ZONE = "topology.ebs.csi.aws.com/zone"
EBS, EFS = "aws-ebs0", "aws-efs0"
VERSIONS = {EBS: "v1.64.0", EFS: "v3.4.1"}
CLIENTS = 6
FOLDER = Path(__file__).parent / "shop"
SPEC = tables.load(FOLDER / "storage.yaml")
CONSUMER = (FOLDER / "shop.nomad.hcl").read_text(encoding="utf-8")
DENIED = (
    "rpc error: code = Internal desc = api error UnauthorizedOperation: not authorized to perform ec2:DescribeInstances"
)


class World:
    """The cluster: what a state changes."""

    def __init__(self, host):
        self.host, self.known = host, host.state
        many = crowd.Crowd(host, CLIENTS)
        self.clients = list(self.known.nodes)
        self.denied = {}
        for plugin in storage.plan_document(SPEC).plugins:
            for job in plugin.jobs:
                text, version = documents.job_file(job), VERSIONS[plugin.plugin_id]
                if job.role == "controller":
                    crowd.control(self.known, text, plugin.expectation.provider, version, self.clients[:2])
                else:
                    many.run(text, plugin.expectation.provider, version)
        for info in (*self.known.plugins[EBS].nodes.values(), *self.known.plugins[EFS].nodes.values()):
            info["NodeInfo"]["RequiresNodeStageVolume"] = info["PluginID"] == EBS
            if info["PluginID"] == EBS:
                zone = info["NodeInfo"]["AccessibleTopology"]["Segments"].pop(crowd.ZONE_KEY)
                info["NodeInfo"]["AccessibleTopology"]["Segments"] = {ZONE: zone}
        held = [volumes.payload(item.registration) for item in storage.plan_document(SPEC).volumes]
        for item in held:
            required = (item.get("RequestedTopologies") or {}).get("Required")
            item["Topologies"] = required or []
        crowd.hold(self.known, held)
        self.claims = crowd.consume(self.known, CONSUMER, [("mysql", self.clients[0]), ("shared", self.clients[3])])

    def info(self, plugin_id, at, role="nodes"):
        """Return Nomad's record of an instance."""
        return getattr(self.known.plugins[plugin_id], role)[self.clients[at]]

    def alloc(self, plugin_id, at, role="nodes"):
        """Return the allocation of an instance."""
        return self.known.allocs[self.info(plugin_id, at, role)["AllocID"]]

    def unlist(self, plugin_id, at, role="nodes"):
        """Let Nomad have no instance; return its allocation."""
        alloc = self.alloc(plugin_id, at, role)
        records.drop_instances(self.known, alloc.alloc_id)
        return alloc

    def tell(self, alloc, *told, **changes):
        """Let the task of an allocation have had these events, beside its first ones."""
        for task in alloc.tasks.values():
            task.events += told
            for name, value in changes.items():
                setattr(task, name, value)

    def place_controller(self, at):
        """Let a client have a healthy controller, as the first one has."""
        placed = copy.deepcopy(self.alloc(EBS, 0, "controllers"))
        placed.alloc_id, placed.node_id = "c0ntr0l3-0000-4000-8000-000000000000", self.clients[at]
        placed.node_name = self.node(at)["Name"]
        self.known.allocs[placed.alloc_id] = placed
        info = self.info(EBS, 0, "controllers") | {"AllocID": placed.alloc_id}
        self.known.plugins[EBS].controllers[self.clients[at]] = info

    def stop_job(self, job_id, *, purge=False):
        """Let a job be stopped, with all that it ran."""
        for alloc in [item for item in self.known.allocs.values() if item.job_id == job_id]:
            alloc.client_status, alloc.desired_status = "complete", "stop"
            records.drop_instances(self.known, alloc.alloc_id)
        self.known.jobs["default", job_id].spec["Stop"] = True
        if purge:
            del self.known.jobs["default", job_id]
            records.collect(self.known)

    def volume(self, name):
        """Return the registration of a volume, as Nomad has it."""
        return self.known.volumes["default", name].spec

    def node(self, at):
        """Return a client's document."""
        return self.known.nodes[self.clients[at]]

    def changed(self):
        """Let Nomad know that clients changed."""
        for node in self.known.nodes.values():
            node["ModifyIndex"] = self.known.commit("nodes")


STATES = {}


def state(function):
    """Note a state under its name."""
    STATES[function.__name__.replace("_", " ")] = function
    return function


def _each(names):
    """Note a state for each of *names*: name -> function."""
    STATES.update(names)


@state
def all_is_well(_world):
    pass


# --- instances of plugins


@state
def node_instance_is_unhealthy(world):
    crowd.fail(world.known, EBS, world.clients[5], DENIED)


@state
def node_instance_of_a_claim_is_unhealthy(world):
    crowd.fail(world.known, EBS, world.clients[0], DENIED)


@state
def every_node_instance_is_unhealthy(world):
    for node_id in world.clients:
        crowd.fail(world.known, EBS, node_id, DENIED)


@state
def node_instance_hangs(world):
    why = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    crowd.fail(world.known, EFS, world.clients[2], why)


@state
def node_instance_starts(world):
    alloc = world.unlist(EFS, 4)
    for task in alloc.tasks.values():
        del task.events[-1]


@state
def node_instance_was_never_ready(world):
    alloc = world.unlist(EBS, 4)
    world.tell(alloc, events.plugin_never_ready("connection refused"), restarts=4)


@state
def client_has_no_allocation(world):
    alloc = world.unlist(EFS, 4)
    del world.known.allocs[alloc.alloc_id]


@state
def client_of_a_claim_has_no_node_instance(world):
    alloc = world.unlist(EFS, 3)
    del world.known.allocs[alloc.alloc_id]


@state
def node_instance_flaps(world):
    alloc = world.alloc(EFS, 1)
    for _ in range(3):
        world.tell(alloc, events.plugin_unhealthy("not ready"), events.plugin_healthy(EFS))


@state
def node_instance_just_restarted(world):
    world.tell(world.alloc(EFS, 1), events.terminated(137, 9), events.started(), restarts=1)


@state
def node_instance_restarted_and_is_well(world):
    told = (events.terminated(137, 9), events.started(), events.plugin_healthy(EFS))
    world.tell(world.alloc(EFS, 1), *told, restarts=1)


@state
def task_ended_and_nomad_lists_it_as_healthy(world):
    world.alloc(EFS, 1).client_status = "failed"


@state
def node_instance_runs_an_older_job(world):
    alloc = world.alloc(EBS, 3)
    alloc.job = copy.deepcopy(alloc.job)
    world.known.jobs["default", alloc.job_id].spec["Version"] += 1


@state
def another_driver_answers_everywhere(world):
    for info in world.known.plugins[EFS].nodes.values():
        info["Provider"] = "other.csi.example.com"
    world.known.plugins[EFS].provider = "other.csi.example.com"


@state
def another_driver_answers_on_a_client(world):
    world.info(EFS, 1)["Provider"] = "other.csi.example.com"


@state
def controllers_cannot_attach(world):
    for info in world.known.plugins[EBS].controllers.values():
        info["ControllerInfo"]["SupportsAttachDetach"] = False


@state
def job_of_another_hand_serves_a_client(world):
    alloc = world.alloc(EBS, 4)
    job = copy.deepcopy(world.known.jobs["default", alloc.job_id])
    job.spec["ID"] = "old-ebs"
    world.known.jobs["default", "old-ebs"] = job
    alloc.job = job.spec


@state
def second_job_runs_beside_the_plans(world):
    listed = world.alloc(EBS, 4)
    job = copy.deepcopy(world.known.jobs["default", listed.job_id])
    job.spec["ID"] = "old-ebs"
    world.known.jobs["default", "old-ebs"] = job
    beside = copy.deepcopy(listed)
    beside.alloc_id, beside.job = "0ld0ebs0-0000-4000-8000-000000000000", job.spec
    world.known.allocs[beside.alloc_id] = beside


# --- jobs and controllers of plugins


@state
def job_of_the_nodes_is_stopped(world):
    world.stop_job(f"plugin-{EBS}-nodes")


@state
def job_of_the_nodes_is_purged(world):
    world.stop_job(f"plugin-{EFS}-nodes", purge=True)


@state
def job_of_the_controllers_is_stopped(world):
    world.stop_job(f"plugin-{EBS}-controller")


@state
def both_jobs_are_purged(world):
    for role in ("nodes", "controller"):
        world.stop_job(f"plugin-{EBS}-{role}", purge=True)


@state
def one_controller_is_unhealthy(world):
    world.info(EBS, 1, "controllers").update(Healthy=False, HealthDescription=DENIED)


@state
def every_controller_is_unhealthy(world):
    for at in (0, 1):
        world.info(EBS, at, "controllers").update(Healthy=False, HealthDescription=DENIED)


@state
def one_controller_has_no_allocation(world):
    alloc = world.unlist(EBS, 1, "controllers")
    del world.known.allocs[alloc.alloc_id]


@state
def one_controller_crashes(world):
    alloc = world.unlist(EBS, 1, "controllers")
    world.tell(alloc, events.terminated(1, 0), events.restarting(15_000_000_000, "Restart within policy"), restarts=1)


# --- clients


@state
def client_is_down_and_nothing_is_claimed_there(world):
    crowd.lose(world.known, world.clients[5])


@state
def client_is_down_with_a_claim(world):
    crowd.lose(world.known, world.clients[3])


@state
def client_is_down_with_a_claim_and_a_controller(world):
    crowd.lose(world.known, world.clients[0])


@state
def client_is_disconnected_with_a_claim(world):
    world.node(3)["Status"] = "disconnected"


@state
def client_drains_and_nothing_is_claimed_there(world):
    crowd.drain(world.known, world.clients[5])


@state
def client_drains_with_a_claim(world):
    crowd.drain(world.known, world.clients[3])


@state
def client_drains_with_a_claim_and_without_its_plugin(world):
    crowd.drain(world.known, world.clients[3])
    world.unlist(EFS, 3)


@state
def clients_of_the_controllers_drain(world):
    for at in (0, 1):
        crowd.drain(world.known, world.clients[at])


@state
def client_takes_no_allocations(world):
    world.node(3)["SchedulingEligibility"] = "ineligible"


@state
def task_driver_fails_on_a_client(world):
    world.node(4)["Drivers"]["raw_exec"]["Healthy"] = False


@state
def task_driver_is_nowhere(world):
    for plugin_id, role in ((EBS, "nodes"), (EFS, "nodes"), (EBS, "controller")):
        for alloc in [item for item in world.known.allocs.values() if item.job_id == f"plugin-{plugin_id}-{role}"]:
            records.drop_instances(world.known, alloc.alloc_id)
            del world.known.allocs[alloc.alloc_id]
    for at in range(CLIENTS):
        world.node(at)["Drivers"]["raw_exec"]["Detected"] = False


@state
def zone_of_a_volume_has_no_client(world):
    for at in (1, 4):
        crowd.lose(world.known, world.clients[at])
        del world.known.nodes[world.clients[at]]
    world.place_controller(2)


@state
def every_client_is_down(world):
    for node_id in world.clients:
        crowd.lose(world.known, node_id)


# --- registrations


@state
def volume_is_not_registered(world):
    del world.known.volumes["default", "cold"]


@state
def volume_has_another_external_id(world):
    world.volume("cold")["ExternalID"] = "vol-0fffffffffffffffe"


@state
def volume_is_of_another_plugin(world):
    world.volume("cold")["PluginID"] = EFS


@state
def volume_is_registered_for_another_zone(world):
    segments = [{"Segments": {ZONE: "us-east-1c"}}]
    world.volume("cold")["Topologies"] = segments
    world.volume("cold")["RequestedTopologies"] = {"Required": segments}


@state
def volume_is_registered_for_a_zone_without_clients(world):
    segments = [{"Segments": {ZONE: "eu-west-1a"}}]
    world.volume("cold")["Topologies"] = segments
    world.volume("cold")["RequestedTopologies"] = {"Required": segments}


@state
def volume_has_another_context(world):
    world.volume("shared")["Context"] = {"encryptInTransit": "false"}


@state
def volume_outside_of_the_spec_has_no_plugin(world):
    document = {"ID": "lost", "Name": "lost", "ExternalID": "vol-0aaaaaaaaaaaaaaaa", "PluginID": "gone"}
    uses = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
    crowd.hold(world.known, [document | {"RequestedCapabilities": uses}])


# --- claims


def _consumer(world, at=0):
    return world.known.allocs[world.claims[at]]


@state
def claim_of_an_allocation_that_ended(world):
    alloc = _consumer(world)
    alloc.client_status, alloc.desired_status = "complete", "stop"


@state
def claim_of_an_allocation_that_nomad_has_forgotten(world):
    del world.known.allocs[world.claims[0]]


@state
def claim_of_a_lost_allocation_on_a_client_that_is_back(world):
    alloc = _consumer(world, 1)
    alloc.client_status, alloc.desired_status = "lost", "stop"


@state
def claim_ended_while_no_controller_is_healthy(world):
    claim_of_an_allocation_that_ended(world)
    every_controller_is_unhealthy(world)


@state
def claim_of_a_client_that_left(world):
    crowd.lose(world.known, world.clients[3])
    del world.known.nodes[world.clients[3]]


@state
def mount_fails(world):
    alloc = _consumer(world, 1)
    hook = 'failed to setup alloc: pre-run hook "csi_hook" failed: '
    alloc.client_status = "failed"
    world.tell(alloc, events.setup_failure(f"{hook}could not claim volume shared: mount failed: exit status 32"))
    world.known.volumes["default", "shared"].claims.clear()


@state
def mount_fails_while_the_node_plugin_is_unhealthy(world):
    mount_fails(world)
    crowd.fail(world.known, EFS, world.clients[3], "mount.nfs4: access denied by server")


# --- servers, and what may not be read


@state
def servers_are_older_than_the_driver_needs(world):
    world.denied["/v1/agent/members"] = {
        "ServerRegion": "global",
        "Members": [{"Name": "s1.global", "Status": "alive", "Tags": {"build": "1.9.3", "region": "global"}}],
    }


def _refused(path, status):
    def cause(world):
        world.denied[path] = status

    return cause


_each(
    {
        "clients may not be read": _refused("/v1/nodes", 403),
        "a client cannot be read": _refused("/v1/node/", 500),
        "plugins may not be read": _refused("/v1/plugin", 403),
        "a job of the plugin may not be read": _refused(f"/v1/job/plugin-{EBS}-nodes", 403),
        "volumes may not be read": _refused("/v1/volume", 403),
        "a free volume may not be read": _refused("/v1/volume/csi/cold", 403),
        "a claimed volume may not be read": _refused("/v1/volume/csi/mysql", 403),
        "servers may not be read": _refused("/v1/agent/members", 403),
        "allocations may not be listed": _refused("/v1/allocations", 403),
        "nomad has no leader": _refused("/v1/", 500),
    }
)


# --- the commands


COMMANDS = {
    "verify": ("verify", "{spec}", "--json"),
    "doctor": ("doctor", "{spec}", "--no-aws", "--json"),
    "claims": ("claims", "--no-aws", "--json"),
    "page": ("verify", "{spec}", "--no-aws", "--html", "{page}", "--json"),
}


@contextlib.contextmanager
def _answers(world):
    """Let Nomad refuse, or answer, what the state says."""
    real = request.Nomad.request

    def answered(self, method, path, **options):
        for prefix, answer in world.denied.items():
            if path.startswith(prefix):
                if isinstance(answer, dict):
                    return dataclasses.replace(real(self, method, path, **options), data=answer)
                kind, said = ("refused", "Permission denied") if answer == 403 else ("retry", "No cluster leader")
                raise errors.NomadApiError(method, path, said, status=answer, kind=kind)
        return real(self, method, path, **options)

    with mock.patch.object(request.Nomad, "request", answered):
        yield


def outcome(code, text):
    """
    Return what a command says: exit code and codes of root causes; of consequences behind ``>``; what it did not check.

    Such as ``1 job-missing > node-missing`` and ``2 (3 not known)``.
    """
    found = json.loads(text) if text.startswith("{") else {}
    wrong = [item for item in found.get("findings", ()) if item["severity"] != "info"]
    roots = {item["code"] for item in wrong if not item.get("cause")}
    effects = {item["code"] for item in wrong} - roots
    parts = [str(code), *sorted(roots)]
    if effects:
        parts += [">", *sorted(effects)]
    unread = [
        item for item in (*found.get("not_checked", ()), *found.get("not_read", ())) if not item.get("is_expected")
    ]
    if unread:
        parts.append(f"({len(unread)} not known)")
    return " ".join(parts)


SAID = re.compile(r"(doctor findings|page (plugins|claims))\b")
"""Rows that other commands have, too."""

ELSEWHERE = ("schema_version", "cluster", "spec", "found_by", "datacenter", "node_pool")
EMPTY = ("", [], {}, None)


def rows(document, at=""):
    """Yield each object of a document as a line, without its empty values."""
    nested = {key: value for key, value in document.items() if isinstance(value, list) and value[:1] != value[:0]}
    nested = {key: value for key, value in nested.items() if isinstance(value[0], dict)}
    own = {key: value for key, value in document.items() if key not in (*nested, *ELSEWHERE) and value not in EMPTY}
    yield f"{at}: {' '.join(f'{key}={json.dumps(value)}' for key, value in sorted(own.items()))}"
    for key, value in nested.items():
        for item in value:
            yield from rows(item, f"{at} {key}".lstrip())


def without_ids(world, text):
    """Return *text* with names instead of ids, times and addresses, which are others in each run."""
    for at, node_id in enumerate(world.clients):
        text = text.replace(node_id, f"NODE{at}").replace(node_id[:8], f"NODE{at}")
    for alloc_id in world.known.allocs:
        text = text.replace(alloc_id, "ALLOC").replace(alloc_id[:8], "ALLOC")
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", text)
    return re.sub(r"\d+ s ago", "N s ago", re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text))


def run(name):
    """Cause the state; return what each command says of it, and the rows of their JSON."""
    said, lines = {}, {}
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        host = cluster.Cluster(cluster.Settings(data_dir=Path(folder), nodes=()))
        with server.Server(host) as serving:
            world = World(host)
            STATES[name](world)
            world.changed()
            spec = Path(folder, "storage.yaml")
            spec.write_text(yaml.safe_dump(SPEC), encoding="utf-8")
            page = Path(folder, "page.html")
            for command, words in COMMANDS.items():
                given = [word.format(spec=spec, page=page) for word in words]
                out = io.StringIO()
                with _answers(world), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    code = cli.main([*given, "--address", serving.url])
                said[command] = outcome(code, out.getvalue())
                text = without_ids(world, out.getvalue())
                found = rows(json.loads(text), command) if text.startswith("{") else text.splitlines()
                lines |= dict.fromkeys(line.removeprefix(f"{command} ") for line in found if not SAID.match(line))
    return said, list(lines)


def recorded():
    """Return the rows of each state."""
    sections = ROWS.read_text(encoding="utf-8").split("\n== ")[1:]
    return {name: lines.splitlines() for name, _, lines in (each.partition("\n") for each in sections)}


def main():
    """Write what the commands say of each state."""
    said = {name: run(name) for name in STATES}
    well = said[next(iter(STATES))][1]
    TABLE.write_text(yaml.safe_dump({name: each for name, (each, _) in said.items()}, sort_keys=False, width=200))
    parts = ["# Written by `python -m tests.diagnosis.cluster_states`.\n"]
    for name, (_, lines) in said.items():
        own = [line for line in lines if lines is well or line not in well]
        parts += [f"\n== {name}\n", *(f"{line}\n" for line in own)]
    ROWS.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
