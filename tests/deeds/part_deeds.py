"""Small decisions, each over a table of what it can be given: what is refused, what is shown, what counts."""

import dataclasses
import itertools
import json
import types

import yaml
from google.protobuf import json_format

from nomad_csi import errors
from nomad_csi.aws import records as aws_records
from nomad_csi.cli.common import documents
from nomad_csi.csi import records
from nomad_csi.diagnosis import claim_replacement, claim_status
from nomad_csi.drivers import ebs_limits
from nomad_csi.frame import changes, resource
from nomad_csi.hcl import files as parsed
from nomad_csi.health import probe_run, probed
from nomad_csi.lint import judge
from nomad_csi.nomad import acl_policy, plugins, snapshots, tokens, volumes
from nomad_csi.plan import snippet, storage
from nomad_csi.plan.rules import ebs_rules
from nomad_csi.provider import replies
from nomad_csi.spec import encrypted
from nomad_csi.spec import model as spec
from nomad_csi.text import table
from nomad_csi.volumes import owner_records, ownership, volume_snapshots
from tests.deeds import registration_deeds
from tests.deeds.deeds import Case

SIZES = (1, 3, 4, 10, 124, 125, 1024, 1025, 16_384, 16_385, 65_536, 65_537)
IOPS = (None, 99, 100, 2999, 3000, 3001, 5000, 64_000, 64_001, 80_000, 80_001, 256_000, 256_001)
THROUGHPUT = (None, 124, 125, 126, 751, 2000, 2001)


def _outcome(call):
    try:
        return call()
    except errors.NomadCsiError as error:
        return f"! {error}"


def _limits(_agent, _context):
    """Check sizes, operations and throughput at the limits of each type; what is well is only counted."""
    alone = [(size, None, None) for size in SIZES]
    alone += [(10, iops, None) for iops in IOPS] + [(10, 3000, each) for each in THROUGHPUT]
    pairs = [(size, iops, None) for size in (4, 6, 128, 129) for iops in IOPS[6:]]
    pairs += [(10, iops, each) for iops in (3000, 3001, 5000) for each in (750, 751, 1250, 1251)]
    shown = {}
    for kind in (*ebs_limits.BY_TYPE, "x"):
        for size, iops, throughput in alone + (pairs if kind[:2] in {"gp", "io"} else []):
            found = spec.EbsSpec.model_construct(
                availability_zone="us-east-1a",
                volume_type=kind,
                size_gib=size,
                iops=iops,
                throughput_mib_per_s=throughput,
            )
            said = "; ".join(f"{each.path.partition('.')[2]} {each.allowed}" for each in ebs_rules.check(found, "ebs"))
            shown.setdefault(f"{kind}: {said}", []).append("-".join(map(str, (size, iops or "", throughput or ""))))
    return {said: " ".join(each) for said, each in shown.items()}


CAPABILITIES = "[{access_mode: single-node-writer, attachment_mode: file-system}, {access_mode: multi-node-reader-only, attachment_mode: file-system}]"
SETS = """plugins: [{{id: ebs, driver: csi-hostpath}}]
volumes:
{volumes}
"""
MEMBER = '- {{id: "{id}", plugin_id: ebs, existing: {{external_id: "0000000{at}-e57b-11f1-a200-aa481798d78c"}}, capabilities: {modes}}}'
WRITER = "[{access_mode: single-node-writer, attachment_mode: file-system}]"
READER = "[{access_mode: multi-node-reader-only, attachment_mode: file-system}]"
BLOCK = "[{access_mode: single-node-writer, attachment_mode: block-device}]"
CLAIMED = {
    "one": (["d"], [WRITER]),
    "for reading": (["d"], [READER]),
    "block": (["d"], [BLOCK]),
    "both modes": (["d"], [CAPABILITIES]),
    "a set": (["d[0]", "d[1]"], [WRITER, WRITER]),
    "a set without its first": (["d[1]", "d[2]"], [WRITER, WRITER]),
    "a set without its last but one": (["d[0]", "d[2]"], [WRITER, WRITER]),
    "a set without a common mode": (["d[0]", "d[1]"], [WRITER, READER]),
    "a set with one common mode": (["d[0]", "d[1]"], [CAPABILITIES, READER]),
}


def _snippets(_agent, _context):
    shown = {}
    for (name, (ids, modes)), reads, destination in itertools.product(CLAIMED.items(), (False, True), ("", "/data")):
        lines = [
            MEMBER.format(id=each, at=at, modes=mode) for at, (each, mode) in enumerate(zip(ids, modes, strict=True))
        ]
        plan = storage.plan_document(yaml.safe_load(SETS.format(volumes="\n".join(lines))))
        found = [item.registration for item in plan.volumes]
        made = _outcome(lambda: snippet.make_snippet(found, "d", reads=reads, destination=destination))  # noqa: B023
        shown[f"{name}, {reads}, {destination}"] = (
            made if isinstance(made, str) else vars(made) | {"alone": made.is_alone, "per_alloc": made.per_alloc}
        )
    return shown


RULES = {
    "name": {"prod": {"read"}},
    "pattern": {"pr*": {"list"}},
    "both": {"prod": {"read"}, "pr*": {"list"}, "*": {"deny"}},
    "closest": {"*": {"a"}, "p*": {"b"}, "*d": {"c"}, "pro*": {"d"}},
    "denied": {"prod": {"read", "deny"}},
    "denied by a pattern": {"p*": {"read", "deny"}},
    "no pattern": {"[p]rod": {"a"}, "pro?": {"b"}},
    "nothing": {},
}


def _tokens(_agent, _context):
    shown = {}
    for (name, first), (other, second) in itertools.product(RULES.items(), RULES.items()):
        policies = {
            "a": tokens.Rules(
                namespaces={key: frozenset(each) for key, each in first.items()}, node="read", plugin="list"
            ),
            "b": tokens.Rules(
                namespaces={key: frozenset(each) for key, each in second.items()},
                node="deny" if other == "denied" else "write",
                variables={
                    ("prod", "nomad-csi/*"): frozenset({"read"}),
                    ("*", "nomad-csi/volumes/1"): frozenset({"write"}),
                },
            ),
        }
        token = tokens.AclToken(name="t", is_unlimited=False, policies=policies)
        shown[f"{name}, {other}"] = [
            sorted(token.capabilities("prod")),
            token.level("node"),
            token.level("plugin"),
            token.level("agent"),
        ]
    shown["variables"] = {
        f"{namespace}, {path}": sorted(token.variable_capabilities(namespace, path))
        for namespace, path in itertools.product(("prod", "default"), ("nomad-csi/volumes/1", "nomad-csi/cluster", "x"))
    }
    return shown


def _differences(_agent, _context):
    """Show differences as the engine gets them, and as a preview words them."""
    cases = {
        "none": resource.ResourceDiff(),
        "update": resource.ResourceDiff(updates=("a", "b.c"), added=frozenset({"a"}), removed=frozenset({"b.c"})),
        "replacement": resource.ResourceDiff(replaces=("a",)),
        "both": resource.ResourceDiff(updates=("a", "secrets.key", "out"), replaces=("a", "b[0]")),
        "of a secret": resource.ResourceDiff(
            updates=("secrets.key", "secrets.other"), added=frozenset({"secrets.key"})
        ),
        "manner": resource.ResourceDiff(
            updates=("b.c", "sizeBytes", "text", "long"), manner="again", details={"b.c": "what it means", "long": ""}
        ),
    }
    old = {
        "a": 1,
        "b": {"c": "x"},
        "sizeBytes": 2**30,
        "text": "a\nb\nc",
        "long": "y" * 60,
        "secrets": {"key": "canary-4"},
    }
    new = {
        "a": resource.UNKNOWN,
        "b": {"c": ["z", resource.UNKNOWN]},
        "sizeBytes": 2**31,
        "text": "a\nd\nc\ne",
        "long": "z" * 60,
        "secrets": {"key": "canary-5"},
    }
    shown = {}
    for (name, found), ignored in itertools.product(cases.items(), ((), ("a",), ("b",))):
        reply = replies.difference(found, {"a", "b", "secrets"}, {"secrets"}, ignored)
        paths = (*found.replaces, *found.updates)
        shown[f"{name}, ignored {', '.join(ignored)}"] = [
            json_format.MessageToDict(reply),
            changes.describe(paths, found, old, new, {"secrets"}),
            changes.describe(paths, found, new, old, {"secrets"}),
        ]
    return shown


VOLUME_ACTIONS = ["ec2:AttachVolume", "ec2:DetachVolume", "ec2:DescribeInstances", "ec2:DescribeVolumes"]
ALL_ACTIONS = [
    *VOLUME_ACTIONS,
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeVolumesModifications",
]
POLICIES = {
    "all": [{"Effect": "Allow", "Action": ALL_ACTIONS, "Resource": "arn:aws:ec2:*:*:volume/vol-1"}],
    "everything": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
    "a pattern": [{"Effect": "Allow", "Action": ["ec2:*Volume", "ec2:describe*"], "Resource": "*", "Condition": {}}],
    "denied": [
        {"Effect": "Deny", "Action": ALL_ACTIONS, "Resource": "*"},
        {"Effect": "Allow", "Action": ["ec2:AttachVolume"], "Resource": "x"},
    ],
    "needless": [
        {"Effect": "Allow", "Action": [*ALL_ACTIONS, "ec2:DescribeTags"], "Resource": ["arn:aws:ec2:*:*:volume/*", "x"]}
    ],
    "other": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
    "one statement": {"Effect": "Allow", "Action": "ec2:DeleteVolume", "Resource": ["x", "arn:aws:ec2:::*"]},
    "two": [
        {"Effect": "Allow", "Action": VOLUME_ACTIONS, "Resource": "x"},
        {"Effect": "Allow", "Action": ALL_ACTIONS[4:], "Resource": "*"},
    ],
    "nothing": [],
}


def _policies(_agent, _context):
    return {
        name: [
            f"{item.code} {item.subject}: {item.found}; {item.advice}"
            for item in judge.judge(
                [parsed.parse(json.dumps({"Version": "2012-10-17", "Statement": statements}, indent=1), "policy.json")]
            )
        ]
        for name, statements in POLICIES.items()
    }


GIVEN = {
    "right": {"prod/mysql": {"key": "x"}},
    "several": {"prod/mysql": {"key": "x", "other": "y"}, "prod/web": {}},
    "a list": [],
    "a number": {"prod/mysql": {"key": 5}},
    "a number among texts": {"prod/mysql": {"a": "x", "key": 5}},
    "a number as a name": {"prod/mysql": {5: "x"}},
    "a number as a key": {5: {"key": "x"}},
    "one wrong entry": {"prod/mysql": {"key": "x"}, "prod/web": "x"},
    "half a character": {"prod/mysql": {"key": "\ud800"}},
    "a stranger": {"prod/x": {"key": "x"}},
    "two strangers": {"prod/y": {"key": "canary-8"}, "prod/x": {"key": "x"}},
}


def _secrets(_agent, _context):
    plan = storage.plan_document(
        yaml.safe_load(
            SETS.format(volumes=MEMBER.format(id="mysql", at=0, modes=WRITER).replace("id:", "namespace: prod, id:", 1))
        )
    )
    document = plan.volumes[0].registration
    hidden = dataclasses.replace(
        document,
        secrets={"key": encrypted.PLACEHOLDER, "z": "own"},
        mount_options=dataclasses.replace(document.mount_options, mount_flags=(encrypted.PLACEHOLDER,)),
    )
    shown = {}
    for name, given in GIVEN.items():
        read = _outcome(lambda: documents.read_secrets(given, "secrets.json"))  # noqa: B023
        shown[name] = [read]
        if not isinstance(read, str):
            for each, needed in ((document, {}), (document, {"prod/mysql": ["key", "more"]}), (hidden, {})):
                made = _outcome(lambda: documents._filled([each], read, needed))  # noqa: B023
                shown[name].append(made if isinstance(made, str) else made[0].secrets)
    return shown


def _waited(wait_s, ready_after):
    """Return a case of a snapshot that is ready after some questions."""

    def run(agent, _context):
        agent.disks.is_ready = False
        asked = agent.disks.create_snapshot

        def create(external_id, wanted):
            made = dict(asked(external_id, wanted))
            agent.disks.asked = getattr(agent.disks, "asked", 0) + 1
            return made | {"IsReady": agent.disks.asked >= ready_after}

        agent.disks.create_snapshot = create
        agent.disks.asked = 0
        wanted = snapshots.NewSnapshot(
            namespace="prod", volume_id="mysql", name="n", parameters={"a": "b"}, secrets={"key": "canary-6"}
        )
        try:
            return vars(volume_snapshots.create(agent.client(), wanted, wait_s=wait_s, report=agent.messages.append))
        finally:
            del agent.disks.create_snapshot, agent.disks.asked

    return run


def _snapshot(agent, context):
    registration_deeds.create(agent, context)
    agent.disks.create_snapshot("vol-1", {"Name": "b", "Secrets": {}, "Parameters": {}})
    agent.disks.create_snapshot("vol-2", {"Name": "c", "Secrets": {}, "Parameters": {}})
    agent.disks.create_snapshot("vol-1", {"Name": "a", "Secrets": {}, "Parameters": {}})
    agent.disks.made.reverse()


def _listed(volume_id):
    return lambda agent, _context: [
        vars(each) for each in volume_snapshots.list_of_volume(agent.client(), "prod", volume_id)
    ]


def _removed(confirmation):
    return lambda agent, _context: volume_snapshots.delete(agent.client(), "ebs", "snap-1", confirmation=confirmation)


def _instance(role, name, **changes):
    known = {
        "role": role, "node_id": f"id-{name}", "alloc_id": f"{role}-{name}", "healthy": True, "health_description": "", "provider": "p", "provider_version": "v1",
        "segments": {"zone": name}, "max_volumes": 2, "supports": frozenset(),
    }  # fmt: skip
    return plugins.Instance(**known | changes)


def _report(**changes):
    known = {
        "endpoint": "/s",
        "status": "ready",
        "detail": "fine",
        "latency_ms": 1.0,
        "name": "p",
        "vendor_version": "v1",
        "plugin_capabilities": ("VOLUME_ACCESSIBILITY_CONSTRAINTS",),
    }
    return records.ProbeReport(**known | changes)


NODE = {"node_capabilities": ("STAGE",), "node_id": "i", "segments": {"zone": "a"}, "max_volumes": 2}
REPORTS = {
    "well": _report(**NODE),
    "no answer": None,
    "silent": _report(**NODE | {"status": "silent", "detail": "token=canary-7"}),
    "another name": _report(**NODE | {"name": "q"}),
    "no name": _report(**NODE | {"name": ""}),
    "a controller": _report(controller_capabilities=("EXPAND_VOLUME",)),
    "another version": _report(**NODE | {"vendor_version": "v2"}),
    "another place": _report(**NODE | {"segments": {"zone": "b"}}),
    "no place": _report(**NODE | {"segments": {}}),
    "no limit": _report(**NODE | {"max_volumes": None}),
    "room for one": _report(**NODE | {"max_volumes": 1}),
    "no constraints": _report(**NODE | {"plugin_capabilities": ()}),
}


def _volume(name, **changes):
    known = {each.name: "" for each in dataclasses.fields(volumes.Volume)}
    known |= {
        "volume_id": name,
        "namespace": "prod",
        "external_id": f"vol-{name}",
        "plugin_id": "ebs",
        "claims": (),
        "topologies": ({"zone": "a"},),
    }
    known |= (
        {"capabilities": (volumes.Capability(access_mode="single-node-writer", attachment_mode="file-system"),)}
        if hasattr(volumes, "Capability")
        else {"capabilities": ()}
    )
    known |= {
        "context": {},
        "parameters": {},
        "capacity_bytes": 0,
        "capacity_min_bytes": 0,
        "controller_required": False,
    }
    return volumes.Volume(**known | changes)


def _claim(node_id, status="running"):
    known = dict.fromkeys(volumes.Claim.__dataclass_fields__, "")
    return volumes.Claim(**known | {"node_id": node_id, "client_status": status, "alloc_id": "x"})


NEEDS = {
    "no volumes": (),
    "one": (_volume("a"),),
    "without a place": (_volume("a", topologies=()),),
    "elsewhere": (_volume("a", topologies=({"zone": "z"},)),),
    "one of two places": (_volume("a", topologies=({"zone": "z"}, {"zone": "a"})),),
    "claimed": (_volume("a", claims=(_claim("id-a"),)),),
    "claimed, out of place": (_volume("a", topologies=({"zone": "b"},), claims=(_claim("id-a"),)),),
    "two claimed": tuple(_volume(name, claims=(_claim("id-a"),)) for name in "ab"),
    "three claimed, one ended": tuple(
        _volume(name, claims=(_claim("id-a", "complete" if name == "c" else "running"),)) for name in "abc"
    ),
    "grows": (_volume("a", capacity_bytes=1, capacity_min_bytes=2),),
    "has grown": (_volume("a", capacity_bytes=2, capacity_min_bytes=2),),
}


def _probed(_agent, _context):
    """Judge answers of one node instance, beside a controller that is well, with each of the needs of volumes."""
    shown = {}
    record = plugins.Plugin(
        **{
            each.name: {
                "plugin_id": "ebs",
                "provider": "p",
                "version": "v1",
                "controllers": (_instance("controller", "c"),),
                "nodes": (_instance("node", "a"),),
                "jobs": frozenset(),
            }.get(each.name, False)
            for each in dataclasses.fields(plugins.Plugin)
        }
    )
    for (name, found), (what, needs) in itertools.product(REPORTS.items(), NEEDS.items()):
        answers = {
            "id-c": probed.ClientAnswer(
                reports={"controller-c": _report(controller_capabilities=("EXPAND_VOLUME",) if what != "grows" else ())}
            ),
            "id-a": probed.ClientAnswer(reports={"node-a": found} if found else {}),
        }
        rows = probed.judge(record, {"id-a": "a"}, answers)
        said = [
            f"{item.code} {item.subject}: {item.expected}, found {item.found}; {item.advice}"
            for item in probed.compare_needs("ebs", rows, needs)
        ]
        if name == "well" or said != shown.get(f"well, {what}"):
            shown[f"{name}, {what}"] = said
        if what == "no volumes":
            one = probed.ProbedPlugin(plugin_id="ebs", rows=rows)
            shown[f"{name}: rows"] = [one.ok, one.as_table(), [row.status for row in rows]]
    answers = {
        "none": None,
        "a problem": probed.ClientAnswer(problem="no", advice="do"),
        "nothing there": probed.ClientAnswer(),
    }
    answers |= {name: probed.ClientAnswer(reports={"node-a": found}) for name, found in REPORTS.items() if found}
    shown["merged"] = {
        f"{name}, {role}{', new' * is_new}": vars(probed.merged("p", role, "node-a", answer, is_new=is_new))
        for (name, answer), role, is_new in itertools.product(answers.items(), ("node", "controller"), (False, True))
    }
    return shown


VALIDATED = {
    "confirmed": records.Validated(confirmed=True),
    "refused": records.Validated(code="INVALID_ARGUMENT", message="no: token=canary-8"),
    "unknown": records.Validated(code="NOT_FOUND", message="no"),
    "not confirmed": records.Validated(message=""),
    "late": records.LATE,
    "no login": records.Validated(code="UNAUTHENTICATED", message=""),
    "wants secrets": records.Validated(code="INTERNAL", message="the Secret is missing"),
    "wants secrets, no code": records.Validated(message="secrets missing"),
}


def _validated(_agent, _context):
    shown = {}
    for name, answer in VALIDATED.items():
        needs = (_volume("a"), _volume("b"))
        found = probed.judge_without_secrets("ebs", needs, {("prod", "a"): answer}, {("prod", "b"): "why not"})
        alone = probed.judge_volumes(needs, {("prod", "a"): answer})
        shown[name] = [
            [f"{item.code} {item.subject}: {item.found}; {item.advice}" for item in each] for each in (found, alone)
        ]
    shown["may be asked"] = {
        name: probed.may_be_asked(_volume("a", **changes), with_secrets)
        for name, changes, with_secrets in (
            ("yes", {}, ()), ("secrets", {}, [("prod", "a")]), ("of another", {}, [("prod", "b")]),
            ("context", {"context": {"secretFile": "x"}}, ()), ("parameters", {"parameters": {"token": "x"}}, ()),
        )
    }  # fmt: skip
    question = probe_run.question(_volume("a", external_id="", context={"a": "b"}, parameters={"c": "d"}))
    return shown | {"question": vars(question)}


PLACES = {"none": (), "there": ("attached",), "leaves": ("detaching",)}


def _attached(agent, _context):
    """End a repair of claims, or not, by what EC2 says of the volume."""
    order = types.SimpleNamespace(namespace="prod", volume_id="mysql", again="again", aws_region="eu-west-1")
    repair = claim_replacement.Replacement(agent.client(), order)
    shown = {}
    for state, (name, how) in itertools.product(
        ("available", "in-use", "creating", "deleting", "error", "missing"), PLACES.items()
    ):
        places = tuple(
            aws_records.Attachment(instance_id="i-1", state=each, device="/dev/x", instance_state="running")
            for each in how
        )
        ebs = aws_records.AttachedVolume(external_id="vol-1", state=state, attachments=places)
        judged = claim_status.VolumeClaims(volume=_volume("mysql"), claims=(), ebs=ebs)
        shown[f"{state}, {name}"] = [str(ebs), ebs.is_free, _ended(lambda: repair._refuse_attached(judged))]  # noqa: B023
    return shown | {"not asked": _ended(lambda: repair._refuse_attached(dataclasses.replace(judged, ebs=None)))}


def _ended(call):
    try:
        return call()
    except claim_replacement.EndError as error:
        return [error.status, str(error)]


def _sentences(_agent, _context):
    """Say whose a volume is: of another label, of another stack of the label."""
    own, other = (owner_records.Requester(owner=label, stack_id="1") for label in ("shop/prod", "web/prod"))
    records = [owner_records.OwnerRecord(owner="shop/prod", stack_id=each) for each in ("", "1", "2")]
    return [ownership.sentence(("prod", "a"), each, who) for each in records for who in (own, other)]


def _tables(_agent, _context):
    text = "some words that wrap, and a-word-with-hyphens-that-does-not and onelongwordwithoutanyspaces"
    return {
        f"{width}, {len(head)}": list(table.wrapped(head, text, width))
        for width, head in itertools.product((1, 20, 40, 200), ("", "head  ", "h" * 30))
    }


def _rights(_agent, _context):
    """The policy of each command, where the jobs are in one namespace and the volumes in another."""
    return {
        name: vars(acl_policy.least_policy([name], jobs={"storage"}, volumes={"shop"})) for name in acl_policy.COMMANDS
    }


CASES = (
    Case("limits of EBS", _limits),
    Case("snippets", _snippets),
    Case("rights of tokens", _tokens),
    Case("differences", _differences),
    Case("policies", _policies),
    Case("secrets given", _secrets),
    Case("snapshot: ready at once", _waited(5, 1), before=_snapshot, fails=True),
    Case("snapshot: ready later", _waited(5, 3), before=_snapshot),
    Case("snapshot: not ready", _waited(2.5, 99), before=_snapshot),
    Case("snapshots of a volume", _listed("mysql"), before=_snapshot, fails=True),
    Case("snapshots of no volume", _listed("x"), before=_snapshot),
    Case("snapshot deleted", _removed("snap-1"), before=_snapshot, fails=True),
    Case("snapshot not deleted", _removed("snap-2"), before=_snapshot),
    Case("probed", _probed),
    Case("validated", _validated),
    Case("attached", _attached),
    Case("whose a volume is", _sentences),
    Case("tables", _tables),
    Case("policies of commands", _rights),
)
