"""What is read from replies of a real Nomad, for each of their values missing or of another kind; and how it is asked."""

import copy
import dataclasses
import functools
import itertools
import json
import re
import socket
import ssl
from pathlib import Path

import urllib3

from nomad_csi import errors, nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.components import documentation
from nomad_csi.diagnosis import claim_status, facts
from nomad_csi.frame import resource
from nomad_csi.nomad import (
    classify,
    cluster_identity,
    connection,
    job_plan,
    jobs,
    nodes,
    plugins,
    transport,
    version_gates,
    volumes,
)
from nomad_csi.provider import configuration
from tests import replies
from tests.deeds import agent as agents
from tests.deeds import deeds, spec_deeds
from tests.deeds.deeds import Case
from tests.diagnosis import known

RECORDINGS = Path(__file__).parent.parent / "nomad" / "recordings"
NODE = nodes.Node(
    node_id="n",
    name="n",
    datacenter="dc1",
    node_pool="p",
    node_class="",
    status="ready",
    eligible=True,
    draining=False,
    drivers={},
)
READERS = {
    "03-volume-get-claimed": lambda client: volumes.get(client, "default", "x"),
    "03-volumes-list": lambda client: volumes.list_volumes(client, "default"),
    "02-plugin-healthy": lambda client: plugins.get(client, "x"),
    "02-job-allocations": lambda client: jobs.allocations(client, "default", "x"),
    "02-job": lambda client: [
        jobs.get(client, "default", "x"),
        jobs.tasks_of_document(jobs.document(client, "default", "x")),
    ],
    "00-nodes": nodes.list_nodes,
    "00-node": lambda client: nodes.described(client, NODE),
    "00-agent-members": nodes.list_servers,
    "06-plan-edited": lambda client: jobs.plan(client, {"ID": "x", "Namespace": "default"}),
    "06-plan-missing-driver": lambda client: jobs.plan(client, {"ID": "x", "Namespace": "default"}),
}


ERROR = re.compile("(?<=!) GET .*: status 200:|; check whether NOMAD_ADDR.*")
"""What all errors about a value have."""


class Fixed:
    """A transport that answers each request with the same."""

    def __init__(self, values):
        self._content, self.requests = json.dumps(values).encode(), []

    def exchange(self, *_):
        """Return the answer."""
        return transport.Answer(status=200, headers={}, content=self._content)

    def close(self):
        """Nothing is open."""


def _read(agent, reader, values):
    agent.transport = Fixed(values)
    try:
        found = reader(agent.client())
    except errors.NomadCsiError as error:
        return {"": f"! {error}"}
    return spec_deeds.paths(found)


def places(value, path=()):
    """Yield the paths of all values, of a list those of its first item."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def with_value(values, path, new):
    """Return *values* with another at *path*; ``...``: without one."""
    found = copy.deepcopy(values)
    place = found
    for part in path[:-1]:
        place = place[part]
    if new is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return found


def another(value):
    """Return another value of the kind of *value*."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return {"": "other"}.get(value, f"{value}x") if isinstance(value, str) else "text"


def _changed(agent, _context):
    for name, reader in READERS.items():
        values = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
        before = _read(agent, reader, values)
        agent.messages.append(f"# {name} {spec_deeds.short(json.dumps(before, default=str))}")
        for path in places(values):
            *_, last = [values, *itertools.accumulate(path, lambda place, part: place[part], initial=values)]
            alike = {}
            for what, new in {"missing": ..., "null": None, "5": 5, "other": another(last)}.items():
                now = _read(agent, reader, with_value(values, path, new))
                changes = deeds.changes(before, now)
                text = ERROR.sub("", str(now.get("") or "")) or json.dumps(changes, sort_keys=True, default=str)
                alike.setdefault(spec_deeds.short(text), []).append(what)
            for text, kinds in alike.items():
                if text != "{}":
                    agent.messages.append(f"{'.'.join(map(str, path))} {', '.join(kinds)}: {text}")


CALLS = [
    ("GET", "/v1/volumes"),
    ("PUT", "/v1/volume/csi/x"),
    ("DELETE", "/v1/volume/csi/x"),
    ("POST", "/v1/jobs/parse"),
    ("POST", "/v1/job/x/plan"),
    ("POST", "/v1/jobs"),
    ("GET", "/v1/var/x"),
]


def _classified(_agent, _context):
    shown = {}
    for (method, path), has_token in itertools.product(CALLS, (True, False)):
        call = classify.Call(method=method, path=path, namespace="prod", has_token=has_token)
        denied = classify.answered(call, 403, "Permission denied")
        shown[f"{method} {path}{'' if has_token else ', no token'}"] = [
            denied.kind,
            denied.advice,
            classify.unanswered(call).kind,
        ]
    for status, (method, path) in itertools.product((301, 400, 401, 403, 404, 429, 500, 502, 503, 504), CALLS[:2]):
        found = classify.answered(
            classify.Call(method=method, path=path, namespace="prod", has_token=True), status, "text"
        )
        shown[f"{status} {method}"] = [found.kind, found.advice]
    for sentence, *_ in classify.SENTENCES:
        kinds = []
        for prefix, (method, path) in itertools.product(("", "controller validate volume: "), CALLS[:2]):
            call = classify.Call(method=method, path=path, namespace="prod", has_token=True)
            found = classify.answered(call, 500, f"{prefix}x {sentence} y")
            kinds.append(found.kind)
        shown[sentence] = [kinds, found.advice]
    return shown | {
        "as 403": [
            classify.status_of(500, text)
            for text in ("Permission denied", " Permission denied\n", "x Permission denied")
        ]
    }


def _caused(error, cause):
    error.__cause__ = cause
    return error


EXCHANGES = [
    urllib3.exceptions.ProxyError("x", OSError("refuses")),
    urllib3.exceptions.NameResolutionError("nomad", None, socket.gaierror(1, "not known")),
    _caused(urllib3.exceptions.NewConnectionError(None, "x"), ConnectionRefusedError(111, "Connection refused")),
    urllib3.exceptions.ConnectTimeoutError(None, "timed out"),
    urllib3.exceptions.SSLError(ssl.SSLCertVerificationError(1, "[SSL] own authority (_ssl.c:1)")),
    urllib3.exceptions.SSLError(ssl.SSLError(1, "[SSL] wrong version (_ssl.c:1)")),
    urllib3.exceptions.SSLError(ssl.SSLEOFError(8, "[SSL] EOF (_ssl.c:1)")),
    urllib3.exceptions.LocationParseError("x"),
    urllib3.exceptions.ReadTimeoutError(None, "/", "timed out"),
    urllib3.exceptions.ProtocolError("x", TimeoutError("timed out")),
    urllib3.exceptions.ProtocolError("x", ConnectionResetError(104, "reset, sent canary-31")),
    urllib3.exceptions.IncompleteRead(1, 2),
    urllib3.exceptions.DecodeError("x"),
]
"""All ends of a request without a reply, in the order in which they come."""


class _Ends:
    """Connections of which each request ends with the same error."""

    def __init__(self, error):
        self._error = error

    def urlopen(self, *_, **__):
        """Raise it."""
        raise self._error


def _unanswered(agent, _context):
    """Show whether it may be sent again, whether it was delivered, and what is said: of a read and of a write."""
    for is_default, error in itertools.product((False, True), EXCHANGES):
        made = agents.TRANSPORT(nomad.Connection(token="canary-31", is_default=is_default))
        made._pool = _Ends(error)
        kinds = []
        for method, path in CALLS[:2]:
            call = classify.Call(method=method, path=path, namespace="prod", has_token=True)
            try:
                made.exchange(call, path, None, 3)
            except errors.NomadApiError as failed:
                kinds.append(f"{failed.kind}{'' if failed.is_connected else ' unsent'}")
                said = f"{failed.message}; {failed.advice}"
        if not is_default or "default" in said:
            agent.messages.append(f"{type(error).__name__}: {', '.join(kinds)}: {said}")


CONNECTIONS = {
    "none": {},
    "http, private": {"address": "http://127.0.0.1:4646", "token": "t"},
    "http, other machine": {"address": "http://nomad:4646"},
    "http, with a token": {"address": "http://nomad:4646", "token": "t", "http_auth": "u:p"},
    "http, with a token, accepted": {"address": "http://nomad:4646", "token": "t", "insecure_http": True},
    "https": {"address": "https://nomad:4646", "token": "t"},
    "socket": {"address": "unix:///run/api.sock", "token": "t"},
    "socket, relative": {"address": "unix://run/api.sock"},
    "socket, long": {"address": f"unix:///{'x' * 107}"},
    "socket, longest": {"address": f"unix:///{'x' * 106}"},
    "user": {"address": "https://u:p@nomad"},
    "no scheme": {"address": "nomad:4646"},
    "port 0": {"address": "http://nomad:0"},
    "port 70000": {"address": "http://nomad:70000"},
    "path": {"address": "https://nomad:4646/v1"},
    "query": {"address": "https://nomad:4646?x"},
    "space": {"address": "https://no mad"},
    "token with a line end": {"token": "a\n"},
    "namespace": {"namespace": "a b"},
    "certificate only": {"client_cert": "c.pem"},
    "key only": {"client_key": "k.pem"},
    "both": {"client_cert": "c.pem", "client_key": "k.pem"},
    "flag": {"tls_skip_verify": "perhaps"},
    "proxy": {"proxy": "socks://p"},
    "proxy with a user": {"proxy": "socks://u:p@p"},
    "several": {"address": "x", "token": "\0", "client_key": "k"},
}
PROXIES = {"HTTPS_PROXY": "http://p:1", "HTTP_PROXY": "http://q:2"}
EXCEPTIONS = (
    "",
    "nomad",
    ".nomad",
    "example.org",
    ".example.org",
    "*.example.org",
    "*",
    "10.0.0.0/8",
    "10.1.2.3",
    "nomad:4646",
    "nomad:1",
    " x , nomad ",
)
HOSTS = (
    "http://nomad:4646",
    "https://nomad",
    "https://a.example.org",
    "https://example.org",
    "http://10.1.2.3:4646",
    "http://127.0.0.1:4646",
    "http://localhost:1",
    "unix:///x",
)
ENVIRONMENTS = {
    "token of the environment, address of a file": ({"NOMAD_TOKEN": "t"}, {"address": "https://other"}, {}),
    "both of the environment": ({"NOMAD_TOKEN": "t", "NOMAD_ADDR": "https://n"}, {}, {}),
    "the same address": ({"NOMAD_TOKEN": "t", "NOMAD_ADDR": "https://N:443/"}, {"address": "https://n"}, {}),
    "both of a file": ({"NOMAD_TOKEN": "t"}, {"address": "https://other", "token": "f"}, {}),
    "typed": ({"NOMAD_TOKEN": "t"}, {"address": "https://other"}, {"address": "https://third"}),
    "typed None": ({}, {"namespace": "f"}, {"namespace": None, "region": "r"}),
    "secrets": ({}, {"address": "https://other"}, {"secrets": "CSI secrets"}),
    "flags": (
        {"NOMAD_SKIP_VERIFY": "1", "NOMAD_NAMESPACE": "n", "NOMAD_REGION": "", "NOMAD_CSI_INSECURE_HTTP": "0"},
        {},
        {},
    ),
}


def _connection(call):
    try:
        found = call()
    except errors.NomadCsiError as error:
        return str(error)
    return {name: value for name, value in vars(found).items() if value not in ("", False)} | {
        "private": found.is_private,
        "secrets": found.secrets,
    }


def _connections(_agent, _context):
    return {
        "given": {name: _connection(lambda: nomad.Connection(**given)) for name, given in CONNECTIONS.items()},  # noqa: B023
        "environment": {
            name: _connection(lambda: nomad.Connection.from_environment(environment, file, **typed))  # noqa: B023
            for name, (environment, file, typed) in ENVIRONMENTS.items()
        },
        "proxies": {
            f"{address}, NO_PROXY={without}": connection.proxy_of(address, PROXIES | {"NO_PROXY": without})
            for address, without in itertools.product(HOSTS, EXCEPTIONS)
        },
        "same": [
            connection.same_address("http://a", other)
            for other in ("http://a:80/", "HTTP://A", "https://a", "http://b", "http://a:81")
        ],
    }


NO_VARIABLES = {}
SETTINGS = {"address": "http://127.0.0.1:4647", "token": "canary-61"}
SETTING_VALUES = ("", "/x", "true", "FALSE", "a:canary-62", True, 5, None, resource.UNKNOWN)
MISSPELT = ("adress", "tokens", "caCerts", "ca_cert", "storage", "Address", "")


def _settings(agent, _context):
    """Each setting of the provider with each kind of value: what is known of it, refused, and what the client gets."""

    def outcome(given, environment=NO_VARIABLES):
        values, problems = configuration.check(given)
        found = [str(each) for each in problems]
        try:
            made = configuration.connection(values, environment)
            shown = {name: repr(value) for name, value in dataclasses.asdict(made).items()}
        except errors.NomadCsiError as error:
            shown = {"": f"! {error}"}
        return shown | {"failures": found, "root": str(configuration.root(values, environment))}

    usual = outcome(SETTINGS)
    for name, item in documentation.package()["config"]["variables"].items():
        agent.messages.append(f"# {name} {json.dumps(item)}")
        alike = {}
        for value in SETTING_VALUES:
            now = outcome(SETTINGS | {name: value})
            text = now.get("") or json.dumps(deeds.changes(usual, now), sort_keys=True)
            alike.setdefault(text.replace(repr(value), "VALUE"), []).append(repr(value))
        agent.messages += [f"{name} {', '.join(values)}: {text}" for text, values in alike.items()]
    for name in MISSPELT:
        agent.messages.append(f"{name}: {deeds.changes(usual, outcome(SETTINGS | {name: 'x'}))}")
    for name, value in (("NOMAD_CSI_ROOT", "/y"), ("NOMAD_TOKEN", "canary-63"), ("NOMAD_ADDR", "http://127.0.0.1:1")):
        for given in ({}, SETTINGS, SETTINGS | {"root": "/x"}):
            agent.messages.append(f"{name}, {sorted(given)}: {deeds.changes(usual, outcome(given, {name: value}))}")


CSI_HOOK = 'failed to setup alloc: pre-run hook "csi_hook" failed: '
FAILED = {
    "ID": "1f7e74ec-9d1c",
    "Namespace": "prod",
    "JobID": "shop",
    "Name": "shop.db[2]",
    "TaskGroup": "db",
    "NodeID": "n1",
    "NodeName": "one",
    "ClientStatus": "failed",
    "DesiredStatus": "run",
    "TaskStates": {"t": {"Events": [{"Time": 1, "Type": "Setup Failure", "DisplayMessage": f"{CSI_HOOK}no volume"}]}},
}
SHOP = {
    "ID": "shop",
    "Namespace": "prod",
    "TaskGroups": [
        {
            "Name": "db",
            "Volumes": {
                "a": {"Type": "csi", "Source": "data", "PerAlloc": False},
                "b": {"Type": "csi", "Source": "wal", "PerAlloc": True},
                "c": {"Type": "host", "Source": "logs"},
            },
        },
        {"Name": "web", "Volumes": {"d": {"Type": "csi", "Source": "web"}}},
    ],
}
LATER = {"Time": 2, "Type": "Setup Failure", "DisplayMessage": f"{CSI_HOOK}volume wal[2]: busy"}
OTHER_EVENT = {"Time": 3, "Type": "Killing", "DisplayMessage": "killed"}
MOUNTS = {
    "a volume": ([FAILED], SHOP),
    "replaced": ([FAILED | {"NextAllocation": "x"}], SHOP),
    "without a number": ([FAILED | {"Name": "shop"}], SHOP),
    "of another group": ([FAILED | {"TaskGroup": "web"}], SHOP),
    "of no group": ([FAILED | {"TaskGroup": "x"}], SHOP),
    "for another reason": ([with_value(FAILED, ("TaskStates", "t", "Events"), [OTHER_EVENT])], SHOP),
    "twice": ([with_value(FAILED, ("TaskStates", "t", "Events"), [LATER, OTHER_EVENT])], SHOP),
    "two allocations": ([FAILED, FAILED | {"ID": "2", "Name": "shop.db[0]", "NodeName": "two", "NodeID": "n2"}], SHOP),
    "a stopped job": ([FAILED], SHOP | {"Stop": True}),
    "no such job": ([FAILED], None),
    "not allowed": (None, SHOP),
    "none": ([], SHOP),
}


class ByPath(Fixed):
    """A transport that answers each path with its own values; without some, as Nomad does where nothing is, or 403."""

    def __init__(self, values):
        self._values, self.requests = values, []

    def exchange(self, call, target, *_):
        """Return the answer."""
        self.requests.append(((call.method, target, None, 30), ""))
        path = target.partition("?")[0]
        if self._values[path] is None:
            status, text = (404, b"job not found") if path.startswith("/v1/job/") else (403, b"Permission denied")
            return transport.Answer(status=status, headers={}, content=text)
        return transport.Answer(status=200, headers={}, content=json.dumps(self._values[path]).encode())


def _mounts(agent, _context):
    """Allocations that cannot have their volumes: what is found of each."""
    of = {("prod", name): "ebs" for name in ("data", "wal[2]", "wal[0]", "web", "logs")}
    for name, (allocations, job) in MOUNTS.items():
        agent.transport = ByPath({"/v1/allocations": allocations, "/v1/job/shop": job})
        volumes = of | {("default", "x"): "ebs"} if name == "none" else of
        listed = tuple(
            facts.ExaminedVolume(key="/".join(key), external_id="", plugin_id=plugin_id, segments=())
            for key, plugin_id in volumes.items()
        )
        reading = facts.Facts(agent.client())
        vars(reading)["volumes"] = listed
        found = known.findings(known.known(failed_mounts=reading.failed_mounts, volumes=listed), "claims")
        agent.messages += [f"{name}: {'; '.join(target for (_, target, *_), _ in agent.transport.requests)}"]
        agent.messages += [f"  {each.code}, {each.subject}: {each.found} {list(each.links)}" for each in found]
        agent.transport.requests.clear()


def _plan_lines(_agent, _context):
    """Read differences of jobs, as Nomad describes them."""

    def field(name, old="", new="", kind="Edited"):
        return {"Type": kind, "Name": name, "Old": old, "New": new}

    lists = [
        field(f"args[{at}]", old, new, "Edited" if old != new else "None")
        for at, (old, new) in enumerate(zip("abcdefghijkl", "bacdefghijkm", strict=True))
    ]
    cases = {
        "new": {"Type": "Added"},
        "gone": {"Type": "Deleted"},
        "none": {"Type": "None"},
        "field": {
            "Type": "Edited",
            "Fields": [
                field("Priority", "50", "70"),
                field("Same", "1", "1", "None"),
                field("Region", "", "eu", "Added"),
                field("Old", "x", "", "Deleted"),
            ],
        },
        "secret": {
            "Type": "Edited",
            "Fields": [
                field("Env[API_TOKEN]", "a", "b"),
                field("Env[X]", "--token=a", "b"),
                field("EmbeddedTmpl", "a", "b"),
                field("Token", "", "x", "Added"),
            ],
        },
        "list": {"Type": "Edited", "Fields": list(reversed(lists))},
        "list, another order": {"Type": "Edited", "Fields": [field("args[0]", "a", "b"), field("args[1]", "b", "a")]},
        "list, longer": {
            "Type": "Edited",
            "Fields": [
                field("args[0]", "a", "a", "None"),
                field("args[10]", "", "--password=x", "Added"),
                field("args[2]", "", "c", "Added"),
            ],
        },
        "list, of one without a place": {
            "Type": "Edited",
            "Fields": [field("args[1]", "a", "b"), field("args", "", "c")],
        },
        "list of secrets": {"Type": "Edited", "Fields": [field("tokens[0]", "a", "b")]},
        "objects": {
            "Type": "Edited",
            "Objects": [
                {"Type": "Edited", "Name": "Resources", "Fields": [field("MemoryMB", "256", "512")]},
                {
                    "Type": "Added",
                    "Name": "Constraint",
                    "Fields": [field("LTarget", "", "x", "Added"), field("Secret", "", "y", "Added")],
                },
                {"Type": "Deleted", "Name": "Update"},
                {"Type": "None", "Name": "Same", "Fields": [field("A", "1", "2")]},
            ],
            "TaskGroups": [
                {"Type": "Added", "Name": "g"},
                {
                    "Type": "Edited",
                    "Name": "h",
                    "Fields": [field("Count", "1", "2")],
                    "Tasks": [
                        {"Type": "Edited", "Name": "t", "Fields": [field("Driver", "a", "b" * 300)]},
                        {"Type": "None", "Name": "u"},
                    ],
                },
            ],
        },
    }
    metrics = {
        "constraints": {"ConstraintFiltered": {"b": 2, "a": 1}, "NodesEvaluated": 3},
        "classes": {
            "ClassFiltered": {"c": 1},
            "DimensionExhausted": {"memory": 4},
            "ClassExhausted": {"d": 1},
            "QuotaExhausted": ["q"],
        },
        "none": {"NodesEvaluated": 0},
        "no reason": {"NodesEvaluated": 2},
    }
    plan = functools.partial(replies.read, job_plan.JobPlan)
    return {name: plan({"Diff": values}).changes for name, values in cases.items()} | {
        "failed": plan({"FailedTGAllocs": metrics}).failed_groups
    }


def _claim_of(node_id, status, changed_ns, mode):
    fields = {"alloc_id": "a1", "mode": mode, "node_id": node_id, "client_status": status, "changed_ns": changed_ns}
    known = {each: fields.get(each, "") for each in volumes.Claim.__dataclass_fields__}
    return volumes.Claim(**known)


def _claims(agent, _context):
    """Judge claims: each status of the allocation, of the client, of its instance and of the storage."""
    values = json.loads((RECORDINGS / "03-volume-get-claimed.json").read_text(encoding="utf-8"))
    agent.transport = Fixed(values)
    base = volumes.get(agent.client(), "default", "x")
    shown = {}
    hour = 3600 * 10**9
    places = {
        "free": (),
        "there": (("i-1", "attached"),),
        "elsewhere": (("i-2", "attached"),),
        "leaves": (("i-2", "detaching"),),
        "both": (("i-1", "attached"), ("i-2", "detaching")),
    }
    for node_id, client, status, instance, (where, attached), age in itertools.product(
        ("n1", ""),
        ("ready", "down", "disconnected", None),
        ("running", "complete"),
        ("running", "terminated"),
        places.items(),
        (0, hour - 10**12, hour),
    ):
        if (client, instance) != ("ready", "running") and (where != "elsewhere" or age):
            continue
        claim = _claim_of(node_id, status, age, "write")
        for held in ((claim,), ()):
            if not held and (node_id or client != "ready" or age):
                continue
            volume = dataclasses.replace(base, claims=held, external_id="vol-1", controller_required=True)
            node = dataclasses.replace(
                NODE, node_id="n1", status=client or "ready", attributes={"unique.platform.aws.instance-id": "i-1"}
            )
            ec2 = aws_records.ObservedAttachments(
                volumes={
                    "vol-1": aws_records.AttachedVolume(
                        external_id="vol-1",
                        state="in-use" if attached else "available",
                        attachments=tuple(
                            aws_records.Attachment(
                                instance_id=each, state=how, device="/dev/x", instance_state="running"
                            )
                            for each, how in attached
                        ),
                    )
                },
                instances={"i-1": instance},
            )
            [judged] = claim_status.judge((volume,), (node,) if client else (), ec2)
            found = known.known(
                now_ns=hour,
                claims=(judged,),
                attachments=ec2,
                volumes=(facts.examined(volume, None),),
            )
            name = ", ".join(
                map(
                    str,
                    (
                        node_id or "no client",
                        client,
                        status,
                        instance,
                        where,
                        age // 10**9,
                        "claimed" if held else "not claimed",
                    ),
                )
            )
            shown[name] = [
                [item.status for item in judged.claims],
                judged.is_held,
                [f"{each.code}: {each.found}; {each.advice}" for each in known.findings(found, "claims")],
            ]
    return shown


def _identities(agent, _context):
    shown = {}
    for recorded, there in itertools.product(("", "1", "2"), ("1", None)):
        variables = agent.cluster.state.variables
        variables.clear()
        if there:
            variables["default", cluster_identity.PATH] = {
                "Namespace": "default",
                "Path": cluster_identity.PATH,
                "CreateIndex": 5,
                "ModifyIndex": 5,
                "Items": {"id": there},
            }
        client = agent.client()
        outputs = {"cluster": recorded}
        refusals = []
        for accepts_lost in (False, True):
            try:
                cluster_identity.refuse_other(client, "volume x", outputs, accepts_lost=accepts_lost)
                refusals.append("")
            except errors.RefusedError as error:
                refusals.append(str(error))
        shown[f"{recorded or '-'}, {there}"] = [
            cluster_identity.compare(client, outputs),
            cluster_identity.sentence(client, "volume x", outputs),
            refusals,
        ]
    return shown


def _versions(_agent, _context):
    releases = ("1.3.0", "1.7.9", "1.8.4", "1.9.0-dev", "2.0.5", "2.0.6-dev", "", "x")
    return {
        "older": {
            f"{one} than {other}": version_gates.is_older(one, other)
            for one, other in itertools.product(releases, ("1.8.4", "2.0.6"))
        },
        "conditions": {
            f"{side} of {release}": [found.code for found in version_gates.met(side, release, ())]
            for side, release in itertools.product(("servers", "clients"), releases)
        },
    }


CASES = (
    Case("replies changed", _changed),
    Case("answers classified", _classified),
    Case("no answer", _unanswered),
    Case("connections", _connections),
    Case("settings of the provider", _settings),
    Case("failed mounts", _mounts),
    Case("differences of jobs", _plan_lines),
    Case("claims judged", _claims),
    Case("identity of a cluster", _identities),
    Case("versions", _versions),
)
