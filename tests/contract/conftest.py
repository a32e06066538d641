"""Both sides with the same plugins on them, started once for all tests; and what tests write for them."""

import contextlib
import functools
import itertools
import json
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest

from nomad_csi import nomad
from nomad_csi.cli.common import inputs
from nomad_csi_sandbox.csi_plugin.server import FAULT_FILE
from tests import acl, clocks, deadlines, servers
from tests.contract import agents, deviations
from tests.contract.acl_world import acl_world  # noqa: F401

EBS_ZONE = {"topology.ebs.csi.aws.com/zone": agents.ZONE}
EBS_SEGMENTS = EBS_ZONE | {"topology.kubernetes.io/zone": agents.ZONE, "kubernetes.io/os": "linux"}
"""All that the EBS plugin reports of a client."""

SHARED = {"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}
LONE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
HOSTPATH = {
    "emulated": ("nomad-csi-sandbox-csi-plugin", ["--driver", "csi-hostpath"]),
    "real": ("hostpathplugin", []),
}
NO_SECOND_TRY = """
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
"""
NOWHERE = """
    constraint {
      attribute = "${node.class}"
      value     = "none"
    }
"""


@dataclass(frozen=True, kw_only=True)
class World:
    """An agent with its plugins, volumes and consumers."""

    agent: object
    history: list
    """What was seen of plugin ``efs``, from its registration until it was healthy."""

    healthy_after_s: float
    """How long that took."""

    ebs_volume: str
    """The EBS volume behind ``zoned``."""


def pytest_generate_tests(metafunc):
    """Run a test that asks for a ``deviation`` for each call in the list."""
    if "deviation" in metafunc.fixturenames:
        lines = deviations.ANSWERS
        metafunc.parametrize("deviation", lines, ids=[f"{number}-{line.route}" for number, line in enumerate(lines)])


def write_job(
    job_id,
    *,
    kind="service",
    top="",
    group="",
    task="",
    driver="raw_exec",
    command="sleep",
    args=("60",),
    kill_timeout="200ms",
):
    """Return the HCL of a job with one task."""
    return f"""job "{job_id}" {{
  type = "{kind}"
  {top}
  group "g" {{
    {group}
    task "t" {{
      driver       = "{driver}"
      kill_timeout = "{kill_timeout}"
      {task}
      config {{
        command = "{command}"
        args    = {json.dumps(list(args))}
      }}
    }}
  }}
}}
"""


def write_plugin(agent, job_id, plugin_id, role, words, *, kind="service", timeout="30s", group="", command=None):
    """Return the HCL of a job that runs the emulator of a CSI driver."""
    block = f"""
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "{role}"
        health_timeout         = "{timeout}"
        stage_publish_base_dir = "{agent.data_dir}/client/csi/{role}/{plugin_id}"
      }}
"""
    program = command or "nomad-csi-sandbox-csi-plugin"
    return write_job(job_id, kind=kind, task=block, group=group, command=program, args=words)


def write_consumer(job_id, source, mode="multi-node-multi-writer", attachment="file-system", driver="exec", **parts):
    """Return the HCL of a job whose task holds a volume."""
    group = f"""
    volume "v" {{
      type            = "csi"
      source          = "{source}"
      access_mode     = "{mode}"
      attachment_mode = "{attachment}"
    }}
"""
    task = """
      volume_mount {
        volume      = "v"
        destination = "/data"
      }
"""
    run = {"command": "/bin/sleep", "args": ["3600"]} | parts
    return write_job(job_id, group=group + NO_SECOND_TRY, task=task, driver=driver, **run)


def write_volume(volume_id, **fields):
    """Return a `CSIVolume` of plugin ``efs``."""
    return {
        "ID": volume_id,
        "Namespace": "default",
        "Name": volume_id,
        "ExternalID": "fs-0123456789abcdef0",
        "PluginID": "efs",
        "RequestedCapabilities": [SHARED],
        "MountOptions": {},
    } | fields


def _required(segments):
    return {"Required": [{"Segments": segments}]}


def _run_plugins(agent):
    """Start all plugins at once; return what was seen of ``efs`` until it was healthy, and how long that took in s."""
    began = time.monotonic()
    socket = "--endpoint=${CSI_ENDPOINT}"
    agent.run(write_plugin(agent, "plugin-efs", "efs", "node", ["--driver", "aws-efs", socket], kind="system"))
    seen = [agent.get("/v1/plugin/csi/efs")]
    ebs = ["--driver", "aws-ebs"]
    agent.run(write_plugin(agent, "plugin-ebs-nodes", "ebs", "node", [*ebs, "node", socket], kind="system"))
    agent.run(write_plugin(agent, "plugin-ebs-controller", "ebs", "controller", [*ebs, "controller", socket]))
    agent.run(write_plugin(agent, "plugin-gone", "gone", "controller", [*ebs, "controller", socket]))
    mute = {"command": "sleep", "timeout": "2s", "group": NO_SECOND_TRY}
    agent.run(write_plugin(agent, "plugin-mute", "mute", "controller", ["60"], **mute))
    broken = {"command": "/bin/sh", "timeout": "30s", "group": NO_SECOND_TRY}
    agent.run(write_plugin(agent, "plugin-broken", "broken", "controller", ["-c", "exit 3"], **broken))

    def look():
        status, found, _ = agent.call("GET", "/v1/plugin/csi/efs")
        if status != 200:  # seen once of Nomad 1.8.4, on a busy machine, before the first report of its health
            return {"NodesHealthy": 0}
        if found != seen[-1]:
            seen.append(found)
        return found

    agent.until(look, lambda found: found["NodesHealthy"])
    healthy_after_s = time.monotonic() - began
    for plugin_id, controllers, nodes in (("ebs", 1, 1), ("gone", 1, 0)):
        agent.until(
            lambda plugin_id=plugin_id: agent.get(f"/v1/plugin/csi/{plugin_id}"),
            lambda found, counts=(controllers, nodes): (found["ControllersHealthy"], found["NodesHealthy"]) == counts,
        )
    agent.call("DELETE", "/v1/job/plugin-gone")
    return seen, healthy_after_s


@contextlib.contextmanager
def _world(kind, moto_url, ec2):
    placed = {"Placement": {"AvailabilityZone": agents.ZONE}}
    [instance] = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, **placed)["Instances"]
    environment = agents.task_environment(moto_url, instance["InstanceId"])
    with agents.started(kind, environment) as agent:
        history, healthy_after_s = _run_plugins(agent)
        agent.call("PUT", "/v1/namespace", {"Name": "storage"})
        external = ec2.create_volume(AvailabilityZone=agents.ZONE, Size=1)["VolumeId"]
        ebs = {"PluginID": "ebs", "RequestedCapabilities": [LONE], "MountOptions": {"FSType": "ext4"}}
        used = {"MountOptions": {"MountFlags": ["tls"]}, "Context": {"encryptInTransit": "true"}}
        agent.register(write_volume("used", **used), write_volume("plain"))
        zone = EBS_ZONE if agent.has("some-segments-suffice") else EBS_SEGMENTS
        agent.register(write_volume("zoned", ExternalID=external, RequestedTopologies=_required(zone), **ebs))
        agent.run(write_consumer("user", "used"))
        agent.run(write_consumer("plain-user", "plain"))
        agent.run(write_consumer("zoned-user", "zoned", mode="single-node-writer"))
        for job_id in ("user", "plain-user", "zoned-user"):
            agent.until_status(job_id, "running")
        yield World(agent=agent, history=history, healthy_after_s=healthy_after_s, ebs_volume=external)


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.real_driver)])
def plugin_id(request, world):
    """The id of a healthy monolith of csi-driver-host-path, started once on each agent: the emulator, or the driver."""
    program, words = HOSTPATH[request.param]
    if request.param == "real" and shutil.which(program) is None:
        pytest.skip(f"{program} is not on PATH")
    agent, found = world.agent, f"hostpath-{request.param}"
    if agent.call("GET", f"/v1/job/{found}")[0] == 404:
        more = [f"--drivername={found}.csi.test", f"--statedir={agent.data_dir / found}", "--nodeid=n1"]
        words = [*words, *more, "--endpoint=${CSI_ENDPOINT}"]
        agent.run(write_plugin(agent, found, found, "monolith", words, kind="system", command=program))
    agent.until(
        lambda: agent.get(f"/v1/plugin/csi/{found}"),
        lambda seen: (seen["ControllersHealthy"], seen["NodesHealthy"]) == (1, 1),
    )
    return found


@dataclass(frozen=True, kw_only=True)
class Sticky:
    """An agent of its own with plugin ``ebs``, where claims stick and garbage may be collected."""

    agent: object
    fault_file: Path
    """Where a fault of the plugin's controller is ordered."""


@contextlib.contextmanager
def _sticky(kind, moto_url, ec2):
    placed = {"Placement": {"AvailabilityZone": agents.ZONE}}
    [instance] = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, **placed)["Instances"]
    folder = agents.short_folder()
    environment = agents.task_environment(moto_url, instance["InstanceId"])
    socket = "--endpoint=${CSI_ENDPOINT}"
    try:
        with agents.started(kind, environment | {FAULT_FILE: str(folder / "faults.json")}) as agent:
            for role, kind_of_job in (("node", "system"), ("controller", "service")):
                words = ["--driver", "aws-ebs", role, socket]
                agent.run(write_plugin(agent, f"plugin-{role}", "ebs", role, words, kind=kind_of_job))
            agent.until(
                lambda: agent.get("/v1/plugin/csi/ebs"),
                lambda found: found["ControllersHealthy"] and found["NodesHealthy"],
            )
            yield Sticky(agent=agent, fault_file=folder / "faults.json")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="package", params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def sticky(request, moto_url, ec2):
    """One side of the contract, where claims can be made to stick."""
    if request.param == "real" and (why := agents.obstacle()):
        pytest.skip(why)
    with _sticky(agents.Real if request.param == "real" else agents.Emulator, moto_url, ec2) as made:
        yield made


@pytest.fixture(scope="package")
def moto_url(tmp_path_factory):
    """AWS for the plugins of both sides, in a process of its own: other tests forget what theirs has."""
    with servers.running("nomad_csi_sandbox.aws.moto", tmp_path_factory.mktemp("moto")) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="package")
def ec2(moto_url):
    """A client of EC2 in moto."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox", "region_name": agents.REGION}
    client = boto3.client("ec2", endpoint_url=moto_url, **keys)
    yield client
    client.close()


@pytest.fixture(scope="package")
def emulator_world(moto_url, ec2):
    """The emulator."""
    with _world(agents.Emulator, moto_url, ec2) as made:
        yield made


@pytest.fixture(scope="package")
def real_world(moto_url, ec2):
    """The real agent; the tests that want it are skipped where there can be none."""
    if why := agents.obstacle():
        pytest.skip(why)
    with _world(agents.Real, moto_url, ec2) as made:
        yield made


@pytest.fixture(params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def world(request):
    """One side of the contract, with its plugins healthy, and consumers running."""
    return request.getfixturevalue("real_world" if request.param == "real" else "emulator_world")


@pytest.fixture
def agent(world):
    """The agent of `world`."""
    return world.agent


@pytest.fixture(autouse=True)
def _brisk(monkeypatch):
    """Commands in this process wait shortly."""
    monkeypatch.setattr(inputs, "CLOCK", clocks.Brisk())


@pytest.fixture
def client(agent):
    """The product's own client of `agent`."""
    connection = nomad.Connection(address=agent.url)
    with nomad.Nomad(connection, timeout_s=deadlines.PATIENT_S, clock=clocks.Brisk()) as made:
        yield made


_NUMBERS = itertools.count()


@pytest.fixture
def fresh():
    """Return names that no other test uses: ``fresh("job")``."""
    mark = f"{random.getrandbits(32):08x}"
    return lambda name: f"{name}-{mark}-{next(_NUMBERS)}"


@pytest.fixture
def kept(agent):
    """Register volumes for one test: ``kept(volume, ...)``; they are gone after it."""
    ids = []

    def keep(*items):
        ids.extend((item["Namespace"], item["ID"]) for item in items)
        return agent.register(*items)

    yield keep
    for namespace, volume_id in ids:
        agent.call("DELETE", f"/v1/volume/csi/{volume_id}?namespace={namespace}")


@pytest.fixture
def ran(agent):
    """Run jobs for one test: ``ran(job_id, hcl)``; they are purged after it."""
    ids = []

    def run(job_id, source, **more):
        ids.append(job_id)
        return agent.run(source, **more)

    yield run
    for job_id in ids:
        agent.call("DELETE", f"/v1/job/{job_id}?purge=true")


@pytest.fixture
def job():
    """Write a job of one task: ``job("j", kind="system", command="sleep")``."""
    return write_job


@pytest.fixture(scope="package")
def plugin_writer():
    """Write a job that runs the emulator of a CSI driver."""
    return write_plugin


@pytest.fixture(scope="package")
def volume_writer():
    """Write a volume of plugin ``efs``."""
    return write_volume


@pytest.fixture(scope="package")
def consumer_writer():
    """Write a job that holds a volume."""
    return write_consumer


@pytest.fixture
def consumer():
    """Write a job that holds a volume: ``consumer("c", "volume-id")``."""
    return write_consumer


@pytest.fixture
def volume():
    """Write a volume of plugin ``efs``: ``volume("v", Name="other")``."""
    return write_volume


@pytest.fixture
def waiting(job):
    """Write a job that finds no place, and so runs nothing."""
    return lambda job_id, **parts: job(job_id, **({"group": NOWHERE} | parts))


@pytest.fixture
def once():
    """What a group says so that its task is tried once."""
    return NO_SECOND_TRY


@pytest.fixture(scope="package")
def side_by_side(emulator_world, real_world):
    """Both sides, for comparisons."""
    return emulator_world.agent, real_world.agent


@pytest.fixture(scope="package")
def emulator_acl(moto_url):
    """The emulator with access control."""
    with agents.started(agents.Emulator, agents.task_environment(moto_url, "i-0"), token=agents.ROOT) as made:
        yield made


@pytest.fixture(scope="package")
def real_acl(moto_url):
    """A real agent with access control."""
    if why := agents.obstacle():
        pytest.skip(why)
    with agents.started(agents.Real, agents.task_environment(moto_url, "i-0"), with_acl=True) as made:
        yield made


LIMITED = {"blind": (), "writer": ("write",), "editor": ("read", "write"), "owner": ("read", "write", "destroy")}
"""Who may do all in a namespace, and with its variables below ``nomad-csi`` this."""


@pytest.fixture(scope="package")
def real_root(real_acl):
    """
    The token of the real agent that may do anything; an agent gives it once.

    It writes no variable before its keyring is there, a moment after the leader; that is waited for.
    """
    root = real_acl.call("POST", "/v1/acl/bootstrap")[1]["SecretID"]
    first = functools.partial(
        real_acl.call, "PUT", "/v1/var/first", {"Items": {"x": "1"}}, headers={"X-Nomad-Token": root}
    )
    real_acl.until(lambda: first()[0], lambda status: status == 200)
    real_acl.call("DELETE", "/v1/var/first", headers={"X-Nomad-Token": root})
    return root


def _tokens(agent, root):
    """Return tokens for those of `LIMITED`, and for ``root``, which may do anything."""
    found = {"root": root}
    for name, rights in LIMITED.items():
        rules = acl.rules({"default": {"policy": "write", "variables": rights}}, node="")
        found[name] = agent.make_token(root, f"limited-{name}", rules)
    return found


@pytest.fixture(scope="package")
def real_tokens(real_acl, real_root):
    """Tokens of the real agent."""
    return _tokens(real_acl, real_root)


@pytest.fixture(scope="package")
def emulator_tokens(emulator_acl):
    """Tokens of the emulator."""
    return _tokens(emulator_acl, agents.ROOT)


@pytest.fixture
def token_of(request, acl_agent):
    """Return the token of one of `LIMITED` at `acl_agent`, or of ``root``, which may do anything."""
    name = "real_tokens" if acl_agent.kind == "real" else "emulator_tokens"
    return request.getfixturevalue(name).__getitem__


@pytest.fixture(params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def acl_agent(request):
    """One side of the contract, with access control."""
    return request.getfixturevalue("real_acl" if request.param == "real" else "emulator_acl")
