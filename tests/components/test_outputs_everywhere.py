"""Every argument may be an output, as a whole and in every part: known, unknown in a preview, or secret."""

import copy
import json
import re

import pulumi
import pytest
from pulumi.output import UNKNOWN, Unknown
from pulumi.runtime import mocks, resource, rpc
from pulumi.runtime.proto import source_pb2

from nomad_csi import components, errors
from nomad_csi.components import arguments, documentation, program
from nomad_csi.spec import names
from tests.components import test_every_field as fields

KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
ZONE = "topology.ebs.csi.aws.com/zone"
REGISTERED = {
    "volume_id": "other",
    "namespace": "prod",
    "name": "shown",
    "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
    "mount_options": {"fs_type": "ext4", "mount_flags": ["noatime"]},
    "secrets": {"key": "value"},
    "adopt": True,
    "render_to": "out",
}
EBS = {"plugin_id": "csi0", "availability_zone": "us-east-1a", "size_gib": 40}
EFS = {"plugin_id": "csi0", "file_system_id": "fs-0123456789abcdef0"}
EXISTING = {"plugin_id": "csi0", "driver": "aws-ebs", "external_id": "vol-0123456789abcdef0"}
CREATED = {"plugin_id": "csi0", "driver": "aws-ebs", "availability_zone": "us-east-1a", "capacity_min_gib": 1}
SHARED = {"capabilities": [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}]}
PLACED = {"topologies": [{ZONE: "us-east-1b"}]}
POINT = {"access_point": {"path": "/a", "uid": 1, "gid": 1}}
OTHERS = [
    (components.EbsVolume, EBS | REGISTERED),
    (components.EbsVolume, EBS | {"snapshots": ["nightly"]} | PLACED),
    (components.EbsVolume, EBS | {"context": {"partition": "1"}}),
    (components.EbsVolume, EBS | {"shares_storage": False}),
    (components.ExistingVolume, EXISTING | {"availability_zone": "us-east-1a", "shares_storage": False}),
    (components.EfsVolume, EFS | POINT | REGISTERED | SHARED | {"mount_options": {"mount_flags": ["iam"]}}),
    (components.EfsVolume, EFS | POINT | {"topologies": [{"topology.kubernetes.io/zone": "us-east-1a"}]}),
    (components.EfsVolume, EFS | POINT | {"context": {"encryptInTransit": "true"}}),
    (components.ExistingVolume, EXISTING | REGISTERED | {"availability_zone": "us-east-1a"}),
    (components.ExistingVolume, EXISTING | PLACED),
    (components.CsiVolume, CREATED | REGISTERED | {"parameters": {"type": "gp3"}}),
    (components.CsiVolume, CREATED | {"shares_storage": False}),
    (components.CsiPlugin, {"driver": "aws-ebs", "aws_region": "us-east-1", "arguments_checked": False}),
    (components.EbsSnapshots, {"keep": 7, "kms_key_arns": [KEY]}),
    (components.EbsSnapshots, {"keep_days": 7}),
    (components.EfsBackups, {"keep_days": 35, "file_system_arns": [ARN], "kms_key_arn": KEY, "every_hours": 12}),
    (components.EfsBackups, {"keep_days": 35, "file_system_arns": [ARN], "at": "04:30"}),
]
"""Arguments of components that no field of the spec is, or whose fields are those of another component above."""

IMPOSSIBLE = {
    **dict.fromkeys(("CsiVolume context", "CsiVolume context.*"), "the plugin writes it"),
    "EfsVolume mount_options.fs_type": "EFS is one",
    **{
        f"{component} {path}": "the driver takes them only for storage that it creates"
        for component in ("EbsVolume", "EfsVolume", "ExistingVolume")
        for path in ("parameters", "parameters.*")
    },
}
"""Arguments without a value that the rules allow."""

UNREACHED = {
    "CsiPlugin arguments_checked": "it only says which other values are allowed",
    "CsiVolume shares_storage": "it is always false: a plugin creates new storage",
}
"""Arguments that reach no resource, each with the reason."""

FILES = {"render_to": "out"}
SECRET = "4dabf18193072939515e22adb298388d"
HIDDEN = re.compile(r"secrets|mount_options\.mount_flags|mount_options$")
"""Arguments that no file shows where they are outputs."""

OWN = {
    ("VolumeRegistration", "volumeId"): {"volume_id"},
    ("VolumeRegistration", "namespace"): {"namespace"},
    ("CreatedVolume", "volumeId"): {"volume_id"},
    ("CreatedVolume", "namespace"): {"namespace"},
    ("PluginJob", "jobId"): {"job_ids"},
    ("PluginJob", "namespace"): {"namespace"},
    ("PluginHealth", "pluginId"): set(),
    ("Volume", "availabilityZone"): {"availability_zone"},
    ("Volume", "size"): {"size_gib"},
    ("Volume", "kmsKeyId"): {"kms_key_arn"},
    ("FileSystem", "kmsKeyId"): {"kms_key_arn"},
    ("FileSystem", "performanceMode"): {"performance_mode"},
    ("AccessPoint", "rootDirectory"): {"access_point"},
    ("AccessPoint", "fileSystemId"): {"file_system_id"},
    ("RolePolicyAttachment", "role"): {"iam"},
}
"""Properties whose change replaces an object: the arguments without which a preview does not know them."""


SOURCES = {
    "ebs": components.EbsVolume,
    "efs": components.EfsVolume,
    "existing": components.ExistingVolume,
    "create": components.CsiVolume,
}


def of_spec(spec):
    """Yield each component that the document *spec* asks for, with its arguments."""
    for plugin in spec.get("plugins", ()):
        yield components.CsiPlugin, {key: value for key, value in plugin.items() if key != "id"} | FILES
    drivers = {plugin["id"]: plugin["driver"] for plugin in spec.get("plugins", ())}
    for system in spec.get("file_systems", {}).values():
        yield components.EfsFileSystem, without(system, "snapshots", "moved_from")
    for volume in spec.get("volumes", ()):
        if "class" not in volume:
            [source] = SOURCES.keys() & volume.keys()
            args = without(volume, "id", "moved_from", source) | volume[source] | FILES | {"volume_id": volume["id"]}
            if source in {"existing", "create"}:
                args["driver"] = drivers[volume["plugin_id"]]
            if args.pop("file_system", None):
                args["file_system_id"] = "fs-0123456789abcdef0"
            yield SOURCES[source], args if source == "ebs" else without(args, "snapshots")
    for schedule in spec.get("snapshots", {}).values():
        if "keep" in schedule:
            yield components.EbsSnapshots, schedule


def without(given, *keys):
    return {key: value for key, value in given.items() if key not in keys}


def places(value, where=()):
    """Yield the keys that lead to each part of *value*."""
    if where:
        yield where
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*where, key))


def pattern(where, component):
    """Return *where* with the marks of items: ``tags.*`` for any of the tags, ``capabilities[]`` for any of them."""
    path, inside = "", fields_of(component)
    for key in where:
        if isinstance(key, int):
            path, item = f"{path}[]", inside.get("[]", {})
        else:
            path, item = f"{path}.{key if key in inside else '*'}".lstrip("."), inside.get(key, inside.get("*", {}))
        inside = parts(item)
    return path


def fields_of(component):
    """Return the arguments of *component* in the package schema."""
    inputs = documentation.package()["resources"][f"{names.TYPES}{component.__name__}"]["inputProperties"]
    return {names.python_name(name): item for name, item in inputs.items()}


def parts(item):
    """Return what is in the value of *item* of the package schema: fields, ``[]`` for each item, ``*`` for any key."""
    record = documentation.object_type(item).get("properties", {})
    found = {names.python_name(name): inner for name, inner in record.items()}
    return found | {mark: item[key] for mark, key in (("[]", "items"), ("*", "additionalProperties")) if key in item}


def declared(inside, path=""):
    """Yield the pattern of each argument in *inside*, and of each part of one."""
    for name, item in inside.items():
        below = f"{path}[]" if name == "[]" else f"{path}.{name}".lstrip(".")
        yield below
        yield from declared(parts(item), below)


def all_cases():
    """Return by component and pattern arguments that have it, and where in them it is."""
    found = {}
    for path, (spec, value) in fields.CHANGES.items():
        for component, args in (*of_spec(spec), *of_spec(fields.changed(spec, path, value))):
            for where in places(args):
                found.setdefault((component, pattern(where, component)), (args, where))
    for component, args in OTHERS:
        for where in places(args):
            found.setdefault((component, pattern(where, component)), (args, where))
    return found


CASES = all_cases()
LATE = [
    pytest.param(component, *CASES[component, path], id=f"{component.__name__} {path}")
    for component, path in CASES
    if path not in arguments.PLAIN
]


def replaced(args, where, make):
    """Return *args* with ``make(value)`` for the value at *where*."""
    made = copy.deepcopy(dict(args))
    inside = made
    for key in where[:-1]:
        inside = inside[key]
    inside[where[-1]] = make(inside[where[-1]])
    return made


@pytest.fixture(scope="module")
def known():
    """The resources of arguments without outputs, by what they are of."""
    return {}


@pytest.fixture
def run(known, new_cloud, monkeypatch):
    """Return a function that declares a component: ``run(component, args)`` returns the inputs by type and name."""
    made = {}
    register = mocks.MockMonitor.RegisterResource

    def record(self, request):
        if request.custom:
            inputs = rpc.deserialize_properties(request.object, keep_unknowns=True)
            made[request.type, request.name] = inputs
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", record)
    monkeypatch.setattr(
        resource, "_get_stack_trace", source_pb2.StackTrace
    )  # a seventh of the time, and read by nobody

    def declare(component, args, *, preview=False):
        key = component, id(args), preview
        if key in known:
            return known[key]
        made.clear()
        cloud = new_cloud()
        pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=preview)
        cloud.settle(lambda: component("data", args() if callable(args) else args) and None)
        if not callable(args):
            known[key] = dict(made)
        return dict(made)

    return declare


def flat(value, path=()):
    """Return the leaves of *value* by their keys; a secret is one leaf, without its mark."""
    if isinstance(value, dict) and SECRET in value:
        inside = value["value"]
        is_unknown = any(isinstance(leaf, Unknown) for leaf in flat(inside).values())
        return {path: Unknown() if is_unknown else ("secret", json.dumps(inside, sort_keys=True))}
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: leaf for name, item in items for key, leaf in flat(item, (*path, name)).items()}
    return {path: value}


def clear(value):
    """Return *value* without marks of secrets, and without what is nothing."""
    if isinstance(value, dict) and SECRET in value:
        return clear(value["value"])
    if isinstance(value, dict):
        return {name: clear(item) for name, item in value.items() if clear(item) is not None}
    return [clear(item) for item in value] if isinstance(value, list) else value


def numbered(inputs):
    """Return *inputs* with mount targets by number: a zone that is an output is not in their names."""
    targets = [key for key in inputs if key[0] == "aws:efs/mountTarget:MountTarget"]
    return {(key[0], targets.index(key)) if key in targets else key: item for key, item in inputs.items()}


def told(inputs, is_hidden):
    """Return *inputs* without marks of secrets, and without the content of files where something *is_hidden*."""
    found = clear(numbered(inputs))
    if is_hidden:
        for item in found.values():
            item.pop("content", None)
    return found


def test_every_argument_has_a_case():
    """An argument that is added is walked, too."""
    named = [
        (f"{component.__name__} {path}", (component, path))
        for component in components.COMPONENTS
        for path in declared(fields_of(component))
        if path not in arguments.PLAIN
    ]

    assert [name for name, key in named if key not in CASES and name not in IMPOSSIBLE] == []
    assert [name for name, key in named if key in CASES and name in IMPOSSIBLE] == []


@pytest.mark.parametrize(("component", "args", "where"), LATE)
def test_unknown_output_leaves_the_rest_known_in_a_preview(run, component, args, where):
    """Each input is as it was, or unknown; what replaces an object is unknown only where its own argument is."""
    expected = run(component, args, preview=True)

    found = run(component, lambda: replaced(args, where, lambda _: pulumi.Output.from_input(UNKNOWN)), preview=True)

    assert sorted(kind for kind, _ in found) == sorted(kind for kind, _ in expected)
    before, after = flat(numbered(expected)), flat(numbered(found))
    unknown = [
        path for path, leaf in after.items() if isinstance(leaf, Unknown) and not isinstance(before.get(path), Unknown)
    ]
    is_hidden = HIDDEN.match(pattern(where, component))
    assert {
        path: leaf
        for path, leaf in after.items()
        if not isinstance(leaf, Unknown)
        and not (is_hidden and path[-1] == "content")
        and before.get(path, leaf) != leaf
    } == {}
    assert unknown or f"{component.__name__} {pattern(where, component)}" in UNREACHED
    for (kind, _), name, *_ in unknown:
        assert where[0] in OWN.get((kind.rpartition(":")[2], name), {where[0]}), name


@pytest.mark.parametrize(("component", "args", "where"), LATE)
def test_secret_output_stays_secret(run, component, args, where):
    """What it reaches is marked, with the same value; the files and jobs are not because of secrets and mount flags."""
    expected = run(component, args)

    found = run(component, lambda: replaced(args, where, pulumi.Output.secret))

    path = pattern(where, component)
    assert told(found, HIDDEN.match(path)) == told(expected, HIDDEN.match(path))
    secret = [keys for keys, leaf in flat(found).items() if isinstance(leaf, tuple)]
    assert secret or f"{component.__name__} {path}" in UNREACHED
    if HIDDEN.match(path) and path != "mount_options":
        assert [keys for keys in secret if keys[-1] in {"hcl", "content"}] == []


def test_wrong_value_of_an_output_is_one_error_with_the_component_and_the_argument(run):
    """By the same rules; the value of a secret is not shown."""
    args = {"plugin_id": "csi0", "availability_zone": "us-east-1a", "size_gib": 40, "volume_type": "gp3"}
    late = pulumi.Output.from_input

    with pytest.raises(program.ProgramError) as caught:
        run(components.EbsVolume, lambda: args | {"size_gib": late(0), "iops": 5})
    with pytest.raises(program.ProgramError) as hidden:
        run(components.EbsVolume, lambda: args | {"availability_zone": pulumi.Output.secret("CANARY")})
    with pytest.raises(program.ProgramError, match=r"mount_flags: .*\[secret\]"):
        run(components.EbsVolume, lambda: args | {"mount_options": {"mount_flags": late("CANARY")}})

    assert str(caught.value) == (
        "EbsVolume data: 2 problems\n  size_gib: expected 1 to 65536 for gp3, got 0\n"
        "  iops: expected 3000 for gp3 of 0 GiB (500 a GiB), got 5"
    )
    assert str(hidden.value).startswith("EbsVolume data: 1 problem\n  availability_zone: expected an Availability Zone")
    assert "CANARY" not in str(hidden.value)


def test_wrong_output_in_a_list_is_told_with_its_place(run):
    """That of the argument, though each is checked as soon as it is known."""
    ids = ["subnet-0abc12345", "none"]

    def late():
        zones = zip(("us-east-1a", "us-east-1b"), map(pulumi.Output.from_input, ids), strict=True)
        targets = [{"availability_zone": zone, "subnet_id": subnet_id} for zone, subnet_id in zones]
        return {"mount_targets": targets, "clients": {"cidr_blocks": ["10.0.0.0/8"]}}

    with pytest.raises(program.ProgramError, match=r"\n  mount_targets\[1\]\.subnet_id: expected a subnet id"):
        run(components.EfsFileSystem, late)


def test_problems_of_known_values_are_told_at_once_together(run):
    """Before anything is declared, as without outputs; what depends on the outputs is not judged yet."""
    args = {"plugin_id": "a/b", "availability_zone": "us-east-1", "sise": 3, "render_to": ("late",)}

    def late():
        return args | {
            "size_gib": pulumi.Output.from_input(UNKNOWN),
            "tags": {"a": pulumi.Output.from_input("b")},
            "render_to": pulumi.Output.from_input("out"),
        }

    with pytest.raises(errors.SpecError) as caught:
        run(components.EbsVolume, late)

    paths = [problem.path for problem in caught.value.problems]
    assert paths == ["sise", "render_to", "plugin_id", "availability_zone"]


@pytest.mark.parametrize(
    ("component", "args", "path"),
    [
        (components.CsiPlugin, {"driver": "aws-ebs", "aws_region": "us-east-1"}, "driver"),
        (components.CsiPlugin, {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role_name": "r"}}, "iam"),
        (components.EfsVolume, EFS | POINT, "access_point"),
        (components.EbsVolume, EBS | {"protect": True}, "protect"),
    ],
)
def test_rejects_an_output_where_it_decides_which_resources_there_are(run, component, args, path):
    """With the reason."""
    with pytest.raises(errors.SpecError) as caught:
        run(component, lambda: args | {path: pulumi.Output.from_input(args[path])})

    [problem] = caught.value.problems
    assert (problem.path, problem.allowed) == (path, arguments.ALLOWED)
    assert re.fullmatch(rf"write (the mapping itself|the value, or read .*): {arguments.PLAIN[path]}", problem.fix)
