"""
Volumes registered 16 at a time, against one after the other, and against a loop of ``nomad volume register``.

On the Nomad emulator, and on a real agent where ``nomad`` is on PATH and may run.
"""

import collections
import concurrent.futures
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import timing
from nomad_csi import nomad
from nomad_csi.frame import resource as steps
from nomad_csi.hcl import documents
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, ownership, volume_resource
from tests.contract import agents

FEW = 200
FEW_AIM_S = 2.6
"""A third of what terraform-provider-nomad took for as many on a real agent, 7.7 s."""

MANY = 1000
MANY_AIM_S = 15.0
ALL = 10_000
BY_COMMAND = 100
"""Files for the loop of the command line, of which one takes a process."""

ASKED = 100
ASKED_S = 0.05
CREATED = 200
"""Volumes that Pulumi's engine creates at the same time."""

_MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")


def measure() -> Iterator[str]:
    """Yield the results."""
    yield from _on(agents.Emulator)
    why = agents.obstacle()
    if why:
        yield f"real agent: not measured: {why}"
    else:
        yield from _on(agents.Real)


def documents_of(prefix: str, count: int, plugin_id: str = "efs") -> list[registration.VolumeRegistration]:
    """Return *count* volumes of a plugin."""
    return [
        registration.VolumeRegistration(
            volume_id=f"{prefix}-{number}",
            name=f"{prefix}-{number}",
            external_id=f"fs-0123456789abcdef0:/{prefix}/{number}",
            plugin_id=plugin_id,
            capabilities=(_MODE,),
            required_topologies=({"topology.kubernetes.io/zone": "us-east-1a"},),
        )
        for number in range(count)
    ]


def _on(kind: Any) -> Iterator[str]:
    with agents.started(kind, agents.task_environment("http://127.0.0.1:9", "i-0")) as agent:
        _run_plugins(agent)
        with nomad.Nomad(nomad.Connection(address=agent.url)) as client:
            yield from (f"{kind.kind}: {line}" for line in _measured(agent, client))


def _run_plugins(agent: Any) -> None:
    """Run a plugin without a controller and one with a slow one, and wait until both are healthy."""
    slow = str(Path("benchmarks/slow_plugin.py").resolve())
    endpoint = "${CSI_ENDPOINT}"
    agent.run(
        _job(agent, "efs", "node", ["nomad-csi-sandbox-csi-plugin", "--driver", "aws-efs", f"--endpoint={endpoint}"])
    )
    agent.run(_job(agent, "slow", "monolith", [sys.executable, slow, endpoint, str(ASKED_S)]))
    agent.until(lambda: agent.get("/v1/plugin/csi/efs"), lambda found: found["NodesHealthy"])
    agent.until(lambda: agent.get("/v1/plugin/csi/slow"), lambda found: found["ControllersHealthy"])


def _job(agent: Any, plugin_id: str, role: str, words: Sequence[str]) -> str:
    return f"""job "plugin-{plugin_id}" {{
  type = "system"
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "{role}"
        stage_publish_base_dir = "{agent.data_dir}/client/csi/{role}/{plugin_id}"
      }}
      config {{
        command = "{words[0]}"
        args    = {json.dumps(list(words[1:]))}
      }}
    }}
  }}
}}
"""


def _measured(agent: Any, client: nomad.Nomad) -> Iterator[str]:
    yield from _new(client)
    if agent.kind == "real":
        yield from _command_line(agent, client)
    yield from _unchanged(agent, client)
    yield from _created(client)
    yield from _validated(client)
    if agent.kind == "real":
        yield from _compared(agent, client)


def _new(client: nomad.Nomad) -> Iterator[str]:
    """Register volumes with owner records, as `apply` does."""
    owner = ownership.Requester(owner="bench")
    few_s = statistics.median(_registered(client, documents_of(f"few-{run}", FEW), owner)[1] for run in range(3))
    many_s = _registered(client, documents_of("many", MANY), owner)[1]
    single = documents_of("single", FEW)
    bare_s = timing.median_s(lambda: [volumes.register(client, item) for item in single], 1)
    yield (
        f"apply of {FEW} new volumes: {few_s:.2f} s (aim on a real agent {FEW_AIM_S:.1f} s); of {MANY}: {many_s:.2f} s "
        f"(aim {MANY_AIM_S:.0f} s); {FEW} bare requests one after the other: {bare_s:.2f} s"
    )


def _desired(documents: Sequence[registration.VolumeRegistration], owner: str = "") -> list[desired.DesiredVolume]:
    return [desired.DesiredVolume(document=each, owner=owner) for each in documents]


def _registered(
    client: nomad.Nomad,
    wanted: Sequence[registration.VolumeRegistration],
    requester: ownership.Requester = ownership.NO_OWNER,
) -> tuple[str, float]:
    began = time.perf_counter()
    outcomes = applied.apply(client, _desired(wanted, requester.owner))
    seconds = time.perf_counter() - began
    counts = collections.Counter(item.status for item in outcomes)
    assert counts in ({"registered": len(wanted)}, {"unchanged": len(wanted)}), counts
    return str(next(iter(counts))), seconds


def _command_line(agent: Any, client: nomad.Nomad) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for item in documents_of("command", BY_COMMAND):
            paths.append(Path(name, f"{item.volume_id}.volume.hcl"))
            paths[-1].write_text(documents.volume_file(item))
        began = time.perf_counter()
        for path in paths:
            timing.of_command(["nomad", "volume", "register", f"-address={agent.url}", str(path)], cwd=Path.cwd())
        loop_s = time.perf_counter() - began
    whole_s = _registered(client, documents_of("instead", MANY))[1]
    each = loop_s / BY_COMMAND
    yield (
        f"`nomad volume register` in a loop: {BY_COMMAND} files {loop_s:.1f} s, so {MANY} in {each * MANY:.0f} s; "
        f"16 at a time {each * MANY / whole_s:.0f} x"
    )


def _unchanged(agent: Any, client: nomad.Nomad) -> Iterator[str]:
    _registered(client, documents_of("again", MANY))
    before = _indexes(agent)
    status, seconds = _registered(client, documents_of("again", MANY))
    after = _indexes(agent)
    yield f"{MANY} volumes again, {status}: {seconds:.2f} s; before {before}; after {after}"


def _indexes(agent: Any) -> str:
    """Return the index of the last write to volumes and, of a real agent, of the last entry of its Raft log."""
    _, _, headers = agent.call("GET", "/v1/volumes?type=csi&prefix=none")
    raft = agent.get("/v1/agent/self").get("stats", {}).get("raft", {})
    log = f", Raft log at {raft['last_log_index']}" if "last_log_index" in raft else ""
    return f"volumes at {headers['X-Nomad-Index']}{log}"


def _created(client: nomad.Nomad) -> Iterator[str]:
    """Let as many threads create as the provider has."""
    puts: list[str] = []
    kind = volume_resource.VolumeRegistrationResource()
    with nomad.Nomad(
        client.connection, observe=lambda method, path: puts.append(path) if method == "PUT" else None
    ) as counting:
        context = steps.Context(connect=lambda: counting)
        for threads in (8, 64, CREATED):
            wanted = [kind.check(_inputs(item))[0] for item in documents_of(f"created-{threads}", CREATED)]
            puts.clear()
            began = time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda news: kind.create(context, news), wanted))
            seconds = time.perf_counter() - began
            yield f"{CREATED} creates by Pulumi, {threads} at a time: {len(puts)} registering requests, {seconds:.2f} s"


def _inputs(item: registration.VolumeRegistration) -> dict[str, Any]:
    return {
        "volumeId": item.volume_id,
        "externalId": item.external_id,
        "pluginId": item.plugin_id,
        "capabilities": [{"accessMode": _MODE.access_mode, "attachmentMode": _MODE.attachment_mode}],
        "requiredTopologies": [{"segments": dict(segments)} for segments in item.required_topologies],
    }


def _validated(client: nomad.Nomad) -> Iterator[str]:
    """Register behind a controller that takes its time."""
    serial = documents_of("serial", ASKED, "slow")
    serial_s = timing.median_s(lambda: [volumes.register(client, item) for item in serial], 1)
    seconds = statistics.median(_registered(client, documents_of(f"asked-{run}", ASKED, "slow"))[1] for run in range(3))
    yield (
        f"{ASKED} volumes behind a controller that takes {ASKED_S * 1000:.0f} ms each: one after the other "
        f"{serial_s:.2f} s, apply {seconds:.2f} s, {serial_s / seconds:.1f} x (aim 6 x)"
    )


def _compared(agent: Any, client: nomad.Nomad) -> Iterator[str]:
    wanted = documents_of("all", ALL)
    applied.apply(client, _desired(wanted))
    seconds = timing.median_s(lambda: _looked(client, wanted), 3)
    script = f"""\
import resource, sys
from benchmarks import registration
from nomad_csi import nomad
with nomad.Nomad(nomad.Connection(address={agent.url!r})) as client:
    registration._looked(client, registration.documents_of("all", {ALL}))
"""
    cost = timing.of_command([sys.executable, "-c", script], cwd=Path.cwd())
    yield (
        f"{ALL} volumes listed and compared: {seconds:.2f} s (aim 6 s); in a process of its own {cost.cpu_s:.2f} s of "
        f"processor time and {cost.peak_mib:.0f} MiB (aim 200 MiB)"
    )


def _looked(client: nomad.Nomad, wanted: Sequence[registration.VolumeRegistration]) -> None:
    outcomes = applied.apply(client, _desired(wanted))
    statuses = collections.Counter(item.status for item in outcomes)
    assert statuses == {"unchanged": len(wanted)}, statuses
