"""
Where the Nomad emulator differs from a real agent, and is left so. Each line says why no call of the product depends on it.

`SHAPES` is left out when bodies are compared, and nothing else is: a line that is no difference any more fails the
tests, and so does a difference without a line. `ANSWERS` are calls that both sides answer differently.

What no single call shows:

- A plugin that is stopped before its first probe: a real agent may also record "Plugin became unhealthy" and
  "Restarting", because the end of the task ends the wait for its health, too, and Go takes either
  (client/allocrunner/taskrunner/plugin_supervisor_hook.go). The emulator only ends it.
- A plugin that ends before its first probe was answered, and is not restarted: a real agent records "Plugin became
  unhealthy" after its end, and on a busy machine may leave it out. The emulator always records it.
- A plugin is healthy about 12 s after its job's registration on a real agent, which probes every 5 s; after 1 to 2 s on
  the emulator. The product waits for health, by default 300 s.
- A plugin that hangs is unhealthy after up to 46 s on a real agent, which probes every 30 s; after 3 s on the emulator.
- The sandbox has one client on a real agent in dev mode, named as the machine, and two on the emulator.
- Volumes in use are mounted into the task by a real agent alone; claims and attachments are the same.
- The emulator has no deployments. Nomad calls that of a plugin that was never healthy successful, so the product reads
  none.
"""

from dataclasses import dataclass

ALLOCATIONS = "GET /v1/job/:id/allocations"
PLUGIN = "GET /v1/plugin/csi/:id"
VOLUME = "GET /v1/volume/csi/:id"
PLAN = "POST /v1/job/:id/plan"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A part of a body."""

    routes: tuple[str, ...]
    where: str
    """Path in the body: ``[]`` is any element, ``*`` any key. What lies below it is meant too."""

    what: str
    why: str
    is_of_a_machine: bool = False
    """Whether the build or the machine decides, not the release."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A call. The statuses are equal unless `emulator` says otherwise."""

    route: str
    body: object
    """What is sent: JSON, or text as it is."""

    real: tuple[int, str]
    """Status, and a part of the real agent's text; empty for a body that is JSON."""

    emulator: tuple[int, str]
    why: str


_PLACED = (
    (ALLOCATIONS, "[]"),
    (PLUGIN, ".Allocations[]"),
    (VOLUME, ".Allocations[]"),
)

SHAPES = (
    *(
        Shape(
            routes=(route,),
            where=f"{below}.DeploymentStatus",
            what="null, where a real agent has an object",
            why="the emulator has no deployments; a real one calls that of a plugin that never was healthy successful, "
            "so nothing of ours may check them",
        )
        for route, below in _PLACED
    ),
    Shape(
        routes=("GET /v1/nodes",),
        where="[].Drivers.mock_driver",
        what="missing: only a development build of Nomad has it",
        why="no job of ours names it",
        is_of_a_machine=True,
    ),
    *(
        Shape(
            routes=("GET /v1/nodes",),
            where=f"[].Drivers.{name}",
            what="without attributes: not looked for",
            why="no job of ours names it",
            is_of_a_machine=True,
        )
        for name in ("java", "qemu")
    ),
    Shape(
        routes=(PLAN,),
        where=".CreatedEvals",
        what="null, where a real agent shows the evaluation that would wait",
        why="a plan is read for its difference, its index, its warnings and its failed groups",
    ),
)

ALLOCATION_EVENTS = frozenset({"Alloc Unhealthy"})
"""Task events that come of deployments, which the emulator has not. Our explanations call them effects, no causes."""

_TICK = {
    "ID": "tick",
    "Name": "tick",
    "Type": "batch",
    "Datacenters": ["*"],
    "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "true"}}]}],
}
_SIGNED = {
    "Name": "g",
    "Tasks": [{"Name": "t", "Driver": "raw_exec", "Config": {"command": "true"}, "Identity": {"Env": True}}],
}

ANSWERS = (
    Answer(
        route="POST /v1/job/tick/plan",
        body={"Job": _TICK | {"Periodic": {"Enabled": True, "SpecType": "cron", "Spec": "0 0 1 1 *"}}},
        real=(200, "'NextPeriodicLaunch'"),
        emulator=(500, "the Nomad emulator runs no periodic jobs"),
        why="the one periodic job of ours verifies, and is nothing that a stack waits for; better refused than never run",
    ),
    Answer(
        route="POST /v1/job/tick/plan",
        body={"Job": _TICK | {"TaskGroups": [_SIGNED]}},
        real=(200, "'Annotations'"),
        emulator=(500, "the Nomad emulator signs no workload identities"),
        why="no one there could check a signature; a task without its token is refused, not started",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = upper("x")\n}', "Canonicalize": True},
        real=(200, ""),
        emulator=(400, "the sandbox's Nomad emulator does not compute a function call"),
        why="no template of ours calls a function; the emulator refuses one's own in its own name",
    ),
    Answer(
        route="DELETE /v1/volume/csi/nobody/delete",
        body=None,
        real=(500, "volume not found: nobody"),
        emulator=(500, "this emulator refuses"),
        why="our client refuses to send it: Nomad lets the driver delete the data before it looks who uses it",
    ),
)
