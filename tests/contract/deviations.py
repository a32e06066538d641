"""
Where the Nomad emulator differs from a real agent, and is left so. Each line says why that is on no path of ours.

`SHAPES` is left out when bodies are compared, and nothing else is: a line that is no difference any more fails the
tests, and so does a difference without a line. `ANSWERS` are calls that both sides answer differently. `MANNERS` is what
no single call shows.
The emulator answers as Nomad 2.0.6-dev does. Beside an older release, bodies are compared `as_of` that one: without
what is `YOUNGER`.
"""

import functools
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
    since: str = ""
    """Difference of ``nomad_csi/nomad/releases.yaml`` without which a release may have nothing there."""

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


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a side goes about something."""

    what: str
    real: str
    emulator: str
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
            since="system-deployments",
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

JOB = "GET /v1/job/:id"
_NAMESPACES = ("GET /v1/namespaces", "GET /v1/namespace/:name")
_PLUGINS = (PLUGIN, f"{PLUGIN} (never healthy)")
YOUNGER = (
    ("fields-of-1.9", (JOB,), ".VersionTag"),
    ("fields-of-1.9", (JOB,), ".TaskGroups[].Tasks[].Identity.Filepath"),
    ("fields-of-1.10", (JOB,), ".TaskGroups[].PreventRescheduleOnLost"),
    ("fields-of-1.10.2", (JOB,), ".TaskGroups[].Tasks[].Templates[].Once"),
    *(
        ("times-of-volumes", (route,), f"{below}.{time}")
        for route, below in (("GET /v1/volumes", "[]"), (VOLUME, ""), *((route, "") for route in _PLUGINS))
        for time in ("CreateTime", "ModifyTime")
    ),
    ("fields-of-1.10", (JOB,), ".ConsulToken"),
    ("fields-of-1.10", (JOB,), ".VaultToken"),
    ("fields-of-1.10", (JOB,), ".TaskGroups[].Consul"),
    ("fields-of-1.10", (JOB,), ".TaskGroups[].Volumes.*.Sticky"),
    ("fields-of-1.10", ("GET /v1/nodes",), "[].HostVolumes"),
    *(("fields-of-1.10", (route,), f"{below}.TaskStates.*.TaskHandle") for route, below in _PLACED),
    ("pool-of-failures", (PLAN,), ".FailedTGAllocs.*.NodePool"),
    *(("fields-of-1.11", (route,), f"{below}.DesiredTransition.MigrateDisablePlacement") for route, below in _PLACED),
    ("fields-of-1.11", (JOB,), ".TaskGroups[].Tasks[].Secrets"),
    ("fields-of-1.11", ("GET /v1/node/pools",), "[].NodeIdentityTTL"),
    *(
        ("fields-of-1.11", (PLAN,), f".Annotations.DesiredTGUpdates.*.{count}")
        for count in ("Disconnect", "Reconnect", "RescheduleLater", "RescheduleNow")
    ),
    ("fields-of-2.0.3", (JOB,), ".TaskGroups[].MaxRunDuration"),
    ("fields-of-2.0.3", (JOB,), ".TaskGroups[].Tasks[].Identity.ExtraClaims"),
    *(
        ("fields-of-2.0.3", (route,), f"{below}.{claims}")
        for route, below in zip(_NAMESPACES, ("[]", ""), strict=True)
        for claims in ("OptionalExtraClaims", "RequiredExtraClaims")
    ),
)
"""Difference of ``nomad_csi/nomad/releases.yaml``, routes, and the part of a body that older releases have otherwise."""

SYSTEM_UPDATE = "system-deployments"
"""Without this difference, a system job has no update strategy unless it is written: null instead of the defaults."""


def as_of(agent, route, *documents):
    """Return *documents*, which were answered on *route*, without what the release of *agent* has otherwise."""
    paths = [_keys(where) for name, routes, where in YOUNGER if route in routes and not agent.has(name)]
    if route == JOB and documents[0]["Type"] == "system" and not agent.has(SYSTEM_UPDATE):
        paths += [_keys(".Update"), _keys(".TaskGroups[].Update")]
    return tuple(functools.reduce(_without, paths, document) for document in documents)


def diff_as_of(agent, job, diff):
    """Return *diff*, of a plan of *job*, without the fields and blocks that the release of *agent* has otherwise."""
    names = {where.rsplit(".", 1)[-1] for name, routes, where in YOUNGER if JOB in routes and not agent.has(name)}
    names |= set() if agent.has("plans-migration") else {"Migrate"}
    names |= set() if agent.has(SYSTEM_UPDATE) or job["Type"] != "system" else {"Update"}

    def kept(found):
        if isinstance(found, list):
            return [kept(item) for item in found if item.get("Name") not in names]
        return (
            {
                name: kept(item) if name in {"Fields", "Objects", "TaskGroups", "Tasks"} else item
                for name, item in found.items()
            }
            if found
            else found
        )

    return kept(diff)


def _keys(where):
    return where.replace("[]", ".[]").removeprefix(".").split(".")


def _without(document, path):
    first, *rest = path
    if first == "[]":
        return document and [_without(item, rest) for item in document]
    if first == "*":
        return document and {name: _without(item, rest) for name, item in document.items()}
    if not rest:
        return {name: item for name, item in document.items() if name != first}
    return document | {first: _without(document[first], rest)} if document.get(first) else document


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
        why="the one periodic job of ours verifies, and is nothing that a stack waits for; better told than never run",
    ),
    Answer(
        route="POST /v1/job/tick/plan",
        body={"Job": _TICK | {"TaskGroups": [_SIGNED]}},
        real=(200, "'Annotations'"),
        emulator=(500, "the Nomad emulator signs no workload identities"),
        why="nobody there could check a signature; a task without its token is told, not started",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = upper("x")\n}', "Canonicalize": True},
        real=(200, ""),
        emulator=(400, "the sandbox's Nomad emulator does not compute a function call"),
        why="no template of ours calls a function; the emulator refuses one's own in its own name",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = file("x")\n}', "Canonicalize": True},
        real=(400, 'Error in function call; Call to function "file" failed: filesystem function disabled.'),
        emulator=(400, "the sandbox's Nomad emulator does not compute a function call"),
        why="refused by both; no template of ours calls a function",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = "x" == "y" ? "z" : "w"\n}', "Canonicalize": True},
        real=(200, ""),
        emulator=(400, "the sandbox's Nomad emulator does not compute a conditional"),
        why="conditions are decided where the job is rendered; the emulator refuses one's own in its own name",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = var.x\n}', "Canonicalize": True},
        real=(400, 'Unsupported attribute; This object does not have an attribute named "x".'),
        emulator=(400, 'this object does not have an attribute named "x"'),
        why="refused by both, with other words and columns; jobs of ours have no variables",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'locals {\n name = "x"\n}\njob "a" {\n name = local.name\n}', "Canonicalize": True},
        real=(200, "'Name': 'x'"),
        emulator=(200, "'Name': '${local.name}'"),
        why="no template of ours has locals, and a spec has no place for them: what varies is decided where the job is "
        "rendered",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n typ = "service"\n}', "Canonicalize": True},
        real=(400, 'An argument named "typ" is not expected here. Did you mean "type"?'),
        emulator=(400, 'An argument named "typ" is not expected here.'),
        why="refused by both, at the same place; the emulator does not guess what was meant",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {', "Canonicalize": True},
        real=(400, "Unclosed configuration block"),
        emulator=(400, "the text is not valid HCL2 at this place"),
        why="refused by both, at the same line or the next; what breaks the grammar has many names at Nomad",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = "x }\n}', "Canonicalize": True},
        real=(400, "Invalid multi-line string"),
        emulator=(400, "the text is not valid HCL2 at this place"),
        why="refused by both; what breaks the grammar has many names at Nomad",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body={"JobHCL": 'job "a" {\n name = "x" }', "Canonicalize": True},
        real=(400, "Missing newline after argument"),
        emulator=(200, ""),
        why="what we render is laid out as `nomad fmt` does, which ends each argument with a line",
    ),
    Answer(
        route="POST /v1/jobs/parse",
        body="[]",
        real=(400, "json: cannot unmarshal array into Go value of type api.JobsParseRequest"),
        emulator=(400, "json: cannot unmarshal into Go value of type struct"),
        why="every body of ours is an object",
    ),
    Answer(
        route="DELETE /v1/job/nobody?purge=maybe",
        body=None,
        real=(500, 'Failed to parse value of "purge" (maybe) as a bool'),
        emulator=(200, ""),
        why="our client writes true or false",
    ),
    Answer(
        route="DELETE /v1/volume/csi/nobody/delete",
        body=None,
        real=(500, "volume not found: nobody"),
        emulator=(500, "this emulator refuses"),
        why="our client refuses to send it: Nomad lets the driver delete the data before it looks who uses it",
    ),
)

MANNERS = (
    Options(
        what="a plugin that is stopped before its first probe",
        real="by chance also reads Plugin became unhealthy and Restarting: the end of the task ends the wait for its "
        "health too, and Go takes either (client/allocrunner/taskrunner/plugin_supervisor_hook.go)",
        emulator="only ends",
        why="both end the same way; nothing of ours checks the events of a job that it stopped",
    ),
    Options(
        what="a plugin that ends before its first probe was answered, and is not restarted",
        real="reads Plugin became unhealthy after its end, and on a busy machine by chance does not: what ends the wait for "
        "its health ends its supervisor too, which goes on with either (the same file, the same from 1.9.7 on; "
        "24 of 24 read it on a quiet machine)",
        emulator="always reads it",
        why="its exit code, and that it is not restarted, stand before it on both sides",
    ),
    Options(
        what="how soon a plugin reads healthy after its job's registration",
        real="after about 12 s: asked every 5 s until it is ready, then told to the server with the client's next update",
        emulator="after 1 to 2 s: asked every 0.5 s",
        why="we wait for health and for no length of time; the timeout is 300 s by default",
    ),
    Options(
        what="how soon a plugin that hangs reads unhealthy",
        real="after up to 46 s: asked every 30 s",
        emulator="after some 3 s: asked every 2 s",
        why="the gate asks the plugin itself where it can reach its socket, and believes no old news",
    ),
    Options(
        what="clients",
        real="one in the sandbox, named as the machine, in the first zone",
        emulator="two, client-1 and client-2, each in a zone of its own",
        why="an agent in dev mode has one client; the sandbox then asks for no more controllers than it has clients, "
        "and says so",
    ),
    Options(
        what="volumes in use",
        real="staged and published by the plugin, mounted into the task",
        emulator="staged and published by the plugin, mounted nowhere",
        why="it takes root to mount; claims, attachments and refusals are those of Nomad",
    ),
    Options(
        what="deployments",
        real="judged 10 s after the start of a task, by default",
        emulator="none",
        why="Nomad calls that of a plugin that never was healthy successful: nothing of ours checks them",
    ),
)
