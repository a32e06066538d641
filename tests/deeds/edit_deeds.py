"""Files in which one line is left out, changed or added at a time: what an import and the check of a file return."""

import dataclasses
import functools
import json
import re

import yaml

from nomad_csi import errors
from nomad_csi.hcl import files, volume_file
from nomad_csi.migration import adopt, model, terraform
from nomad_csi.plan import storage
from nomad_csi.render import documents
from tests.deeds import deeds, file_deeds
from tests.deeds.deeds import Case

SPEC = """plugins:
- {id: efs, driver: aws-efs, aws_region: us-east-1}
- {id: ebs, driver: aws-ebs, aws_region: us-east-1}
volumes:
- {id: logs, plugin_id: efs, existing: {external_id: "fs-0123456789abcdef0:/logs"}, context: {encryptInTransit: "true"}}
- {id: all, plugin_id: efs, existing: {external_id: "fs-0123456789abcdef0"}, context: {encryptInTransit: "true"}}
- {id: new, namespace: prod, plugin_id: ebs, create: {capacity_min_gib: 5, availability_zone: us-east-1a}}
"""
DURATION = re.compile(r'"(\d+)([smh])"')
NUMBER = re.compile(r"(?<= )\d+$")

JOB = (
    'region = "eu"',
    "affinity {}",
    'meta {\nteam = "a"\n}',
    "reschedule {\nattempts = 1\n}",
    'update {\nmax_parallel = 2\nmin_healthy_time = "20s"\nhealthy_deadline = "7m"\nauto_revert = true\n}',
    'update {\nmin_healthy_time = "0s"\nstagger = "10s"\ncanary = 1\n}',
    "vault {}",
    *(
        f"constraint {{\n{text}\n}}"
        for text in (
            'attribute = "${node.class}"\nvalue = "a"',
            'attribute = "${node.class}"\noperator = "is"\nvalue = "a"',
            'attribute = "${node.class}"\noperator = "not"\nvalue = "a"',
            'attribute = "${node.class}"\noperator = "is_set"',
            'attribute = "${node.class}"\noperator = "none"\nvalue = "a"',
            'attribute = "${node.class}"\nregexp = "a.*"',
            'attribute = "${attr.nomad.version}"\nsemver = ">= 1.9"',
            'attribute = "class"\nvalue = "a"',
            'attribute = "${attr.platform.aws.placement.availability-zone}"\nvalue = "us-east-1b"',
            'attribute = "${attr.platform.aws.placement.availability-zone}"\noperator = "!="\nvalue = "us-east-1b"',
            "distinct_hosts = true",
        )
    ),
)
ADDED = {
    "job": JOB,
    "group": (
        "ephemeral_disk {\nsize = 300\n}",
        "ephemeral_disk {\nsize = 500\n}",
        'network {\nmode = "host"\n}',
        "service {}",
        "count = 3",
        'restart {\nmode = "fail"\n}',
        'task "beside" {\ndriver = "docker"\n}',
        *JOB[4:9],
    ),
    "task": (
        'kill_timeout = "5s"',
        'kill_timeout = "40s"',
        "logs {\nmax_files = 10\nmax_file_size = 10\n}",
        "logs {\nmax_files = 3\n}",
        'user = "root"',
        "template {}",
        "artifact {}",
        'restart {\nattempts = 9\ninterval = "4m"\ndelay = "400ms"\nmode = "delay"\n}',
        *JOB[7:9],
    ),
    "config": ('ipc_mode = "host"', 'command = "x"', 'cap_add = ["SYS_ADMIN"]', 'volumes = ["/a:/a"]', "port = 1"),
    "csi_plugin": ('stage_publish_base_dir = "/data/client/csi/x"',),
    "env": ('B = "1"', 'MY_PASSWORD = "canary-57"', 'CSI_ENDPOINT = "x"', 'C = "${node.class}"'),
    "resources": ("memory_max = 512", "cores = 2"),
    "args": (
        '"--token=canary-58",',
        '"--batching=true",',
        '"--unknown=1",',
        '"--logtostderr",',
        '"--extra-tags=a=b,c=d",',
        '"word",',
        '"--http-endpoint=:1",',
    ),
    "context": ('path = "/a"', 'token = "canary-60"'),
    "mount_options": ('fs_type = "xfs"', 'mount_flags = ["noatime", "password=canary-65"]'),
    "volume": (
        'secrets = {\nkey = "canary-59"\n}',
        'capacity_max = "20GiB"',
        'snapshot_id = "snap-1"',
        'clone_id = "vol-1"',
        'name = "other"',
        'parameters = {\ntype = "io2"\n}',
        "other = 1",
    ),
}
"""Lines that are added, each alone, at the beginning of the blocks of a kind."""


def _changed(line):
    """Return *line* with another value; *line* itself where it has none."""
    if duration := DURATION.search(line):
        return line.replace(duration[0], f'"{int(duration[1]) + 2}{duration[2]}"')
    if NUMBER.search(line):
        return NUMBER.sub(lambda found: str(int(found[0]) + 1), line)
    for old, new in (("true", "false"), ("false", "true")):
        if line.endswith(f" {old}"):
            return line.removesuffix(old) + new
    at = line.rfind('"')
    return f"{line[:at]}x{line[at:]}" if at >= 0 else line


def _edits(text, whole):
    """Yield each edit of a file, a word for it and the text: attributes left out and changed, blocks left out, additions."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        shown = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        if not shown or shown.startswith(("#", "}", "]")):
            continue
        end = at + 1
        if shown.endswith(("{", "[")):
            kind = shown.split()[0]
            end = next(each for each in range(at, len(lines)) if lines[each] in (f"{indent}}}", f"{indent}]")) + 1
            for added in ADDED.get(kind, ()):
                yield f"{kind} with {' '.join(added.split())}", [*lines[: end - 1], added, *lines[end - 1 :]]
        elif (changed := _changed(line)) != line:
            yield changed.strip(), [*lines[:at], changed, *lines[end:]]
        if indent:
            yield f"no {shown.removesuffix(' {').removesuffix(' = [')}", [*lines[:at], *lines[end:]]
        elif "=" in shown:
            yield f"no {shown}", [*lines[:at], *lines[end:]]
    for added in ADDED[whole] if whole else ():
        yield f"with {' '.join(added.split())}", [*lines, added]


_parsed = functools.cache(files.parse)


class Remark(str):
    """What is shown of a remark: its code and its line, which changes with lines above it and is no difference."""

    __slots__ = ("line",)

    def __new__(cls, code, line):
        """Return the code, with the line."""
        made = super().__new__(cls, code)
        made.line = line
        return made


def _adopted(found, remarks, **options):
    """Return the spec and the remarks of an import, by their paths and by their texts."""
    try:
        made = adopt.adopt(found, remarks=remarks, **options)
    except errors.NomadCsiError as error:
        return {"error": str(error)}
    shown = {f"{each.kind}: {each.text}": Remark(each.code, each.line) for each in made.remarks}
    return dict(deeds.flat(made.document)) | shown


def _imported(texts):
    """Return the spec and the remarks of an import of *texts* by their file names."""
    try:
        found = [_parsed(text, name) for name, text in texts.items()]
    except errors.NomadCsiError as error:
        return {"error": str(error)}
    return _adopted(found, model.Remarks())


def _checked(check):
    try:
        check()
    except errors.NomadCsiError as error:
        return str(error).splitlines()[1:] or [str(error)]
    return []


def _shown(usual, found, problems=()):
    shown = found if "error" in found else deeds.changes(usual, found)
    shown = {key: f"{each} at {each.line}".strip() if isinstance(each, Remark) else each for key, each in shown.items()}
    return json.dumps(shown, sort_keys=True) if shown else "the same", *problems


def _say(agent, outcomes):
    """Show *outcomes*, pairs of an edit and the lines of its outcome; those of equal outcome together."""
    alike = {}
    for name, shown in outcomes:
        alike.setdefault(tuple(shown), []).append(name)
    for shown, names in alike.items():
        agent.messages += [f"## {' | '.join(names)}", *filter(None, shown)]


def _as_data(value):
    return json.loads(json.dumps(dataclasses.asdict(value), default=str))


PLAN = storage.plan_document(yaml.safe_load(SPEC))
JOBS = {job.job_id: job for plugin in PLAN.plugins for job in plugin.jobs}
VOLUMES = {item.registration.volume_id: item for item in PLAN.volumes}


def _job(job_id):
    """Return what shows each edit of a job, imported with the other jobs of its plugin."""

    def run(agent, _context):
        own = [each for each in JOBS.values() if each.plugin_id == JOBS[job_id].plugin_id]
        texts = {each.job_id: documents.job_file(each) for each in reversed(own)}
        usual = _imported(texts)

        def outcomes():
            for name, lines in _edits(texts[job_id], ""):
                text = "\n".join(lines)
                problems = _checked(lambda text=text: documents.check_job(text, texts[job_id], "x"))
                yield name, _shown(usual, _imported(texts | {job_id: text}), problems)

        _say(agent, outcomes())

    return run


def _volume(name, text, **texts):
    """Return what shows each edit of the file *text* of a volume, imported with *texts*."""

    def run(agent, _context):
        usual = _imported({name: text, **texts})
        planned = VOLUMES.get(name)
        path = agent.folder / "v.volume.hcl"

        def read(edited):
            path.write_text(edited)
            found = [_as_data(each) for each in volume_file.read(path, namespace="team")]
            path.unlink()
            return found

        was = dict(deeds.flat(read(text))) if not planned or not planned.made_by_plugin else {}

        def outcomes():
            for edit, lines in _edits(text, "volume"):
                edited = "\n".join(lines)
                problems = []
                if planned:
                    problems = _checked(lambda edited=edited: documents.check_volume(edited, text, "v"))
                try:
                    found = deeds.changes(was, dict(deeds.flat(read(edited)))) if was else {}
                except errors.SpecError as error:
                    found = str(error).replace(str(path), "FILE")
                shown = _shown(usual, _imported({name: edited, **texts}), problems)
                yield edit, (*shown, f"registered: {json.dumps(found, sort_keys=True)}" if found else "")

        _say(agent, outcomes())

    return run


def _state_edits(value, path=""):
    """Yield the path of each value in a state, and the state with it changed, ``null`` or gone."""
    if value == []:
        yield f"{path}: [x]", ["x"]
    elif isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            place = f"{path}.{key}" if path else str(key)
            for name, edited in _state_edits(value[key], place):
                copy = value.copy()
                copy[key] = edited
                yield name, copy
            copy = value.copy()
            del copy[key]
            yield f"no {place}", copy
    else:
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
        yield f"{path}: {other}", other
        yield f"{path}: null", None


def _aws(kind, name, **attributes):
    return {"mode": "managed", "type": f"aws_{kind}", "name": name, "instances": [{"attributes": attributes}]}


def _grant(action):
    return json.dumps({"Statement": [{"Action": ["sts:AssumeRole"]}, {"Action": action}]})


POINT = {
    "id": "fsap-0123456789abcdef1",
    "posix_user": [{"uid": 5, "gid": 5, "secondary_gids": []}],
    "root_directory": [{"path": "/b", "creation_info": [{"owner_uid": 5, "owner_gid": 5, "permissions": "0755"}]}],
}
TO_NFS = {"from_port": 2000, "to_port": 2049, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]}
OTHERS = [
    *(
        _aws(
            "efs_mount_target",
            zone,
            id=f"t-{zone}",
            file_system_id="fs-0123456789abcdef0",
            subnet_id=f"subnet-0123456789abcdef{zone}",
            security_groups=["sg-0123456789abcdef0"],
            availability_zone_name=f"us-east-1{zone}",
        )
        for zone in "ba"
    ),
    _aws(
        "security_group",
        "nfs",
        id="sg-0123456789abcdef0",
        ingress=[
            TO_NFS,
            {"from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["10.1.0.0/16"]},
            {"from_port": 0, "to_port": 0, "protocol": "-1", "security_groups": ["sg-0123456789abcdef9"]},
        ],
    ),
    _aws("iam_policy", "ebs", id="p-1", arn="arn:aws:iam::1:policy/ebs", policy=_grant("ec2:AttachVolume")),
    _aws("iam_role_policy_attachment", "ebs", id="r-1", role="nodes", policy_arn="arn:aws:iam::1:policy/ebs"),
    _aws("iam_role_policy", "efs", id="r-2", role="mounts", policy=_grant(["elasticfilesystem:Describe"])),
]
ON_DISK = {"multi_attach_enabled": False, "outpost_arn": ""}
ON_FILE_SYSTEM = {"availability_zone_name": "", "lifecycle_policy": []}


def _objects(*, is_shared):
    """Return the objects of a state of which nothing keeps the storage from a spec; *is_shared*: two volumes use EFS."""
    found = {each["name"]: json.loads(json.dumps(each)) for each in file_deeds.STATE["resources"]}
    found["disk"]["instances"][0]["attributes"] |= ON_DISK
    found["shared"]["instances"][0]["attributes"] |= ON_FILE_SYSTEM
    volume, point = (each for each in file_deeds.STATE["resources"] if each["name"] == "web")
    found |= {"web": volume, "point": point}
    del found["a"], found["made"]
    if is_shared:
        second = volume["instances"][0]["attributes"]
        second = second | {"volume_id": "b", "external_id": f"fs-0123456789abcdef0::{POINT['id']}"}
        found |= {"b": volume | {"name": "b", "instances": [{"attributes": second}]}}
        found |= {"point b": _aws("efs_access_point", "b", **POINT)}
    return [*found.values(), *OTHERS]


def _terraform(*kinds, is_shared=False, takes_over=True):
    """Return what shows each value of each object of the *kinds*, all without one, changed, ``null`` and gone."""

    def imported(objects):
        text = json.dumps(file_deeds.STATE | {"resources": objects})
        remarks = model.Remarks()
        try:
            found, aws = terraform.read(text, "s", remarks), terraform.read_aws([(text, "s")])
        except errors.NomadCsiError as error:
            return {"error": str(error)}
        return _adopted(found, remarks, storage_found=aws, takes_over=takes_over)

    def run(agent, _context):
        objects = _objects(is_shared=is_shared)
        usual = imported(objects)
        agent.messages += [f"{path}: {value}" for path, value in usual.items()]

        def outcomes():
            for at, each in enumerate(objects):
                if not each["type"].startswith(kinds or ""):
                    continue
                for name, edited in _state_edits(each["instances"][0]["attributes"]):
                    changed = each | {"instances": [each["instances"][0] | {"attributes": edited}]}
                    shown = _shown(usual, imported([*objects[:at], changed, *objects[at + 1 :]]))
                    yield f"{each['type']}.{each['name']} {name}", shown

        _say(agent, outcomes())

    return run


def _rendered(name):
    return documents.volume_file(VOLUMES[name].registration, made_by_plugin=VOLUMES[name].made_by_plugin)


CASES = (
    *(Case(f"job {job_id}", _job(job_id)) for job_id in ("plugin-efs-nodes", "plugin-ebs-controller")),
    *(Case(f"volume {name}", _volume(name, _rendered(name))) for name in VOLUMES),
    Case("volume of a driver of its own", _volume("data", file_deeds.VOLUME, nodes=file_deeds.OWN["nodes.nomad.hcl"])),
    Case("Terraform", _terraform("aws_iam", takes_over=False)),
    Case("Terraform, with its storage", _terraform()),
    Case("Terraform, with storage of two volumes", _terraform("aws_efs", is_shared=True)),
)
