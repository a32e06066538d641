"""Further small decisions, each over a table of what it can be given: exit codes, orders, files of a project, sockets."""

import dataclasses
import io
import itertools
import json
import os
import types
from unittest import mock

import click

from nomad_csi import errors
from nomad_csi.aws import regions
from nomad_csi.cli import import_files
from nomad_csi.cli.common import command, inputs, output
from nomad_csi.diagnosis import claim_status, claims_report, smoke
from nomad_csi.findings import finding
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import volume_file
from nomad_csi.migration import model, short_form
from nomad_csi.pulumi_state import stack_cli
from nomad_csi.render import project
from nomad_csi.volumes import compare
from tests.deeds import agent as agents
from tests.deeds import deeds, part_deeds, reply_deeds, spec_deeds
from tests.deeds.deeds import Case


def _exit_codes(_agent, _context):
    """Each set of remarks, with a document and without."""
    kinds = ("note", "missing", "wrong", "not read")
    return {
        f"{', '.join(found) or 'nothing'}{'' if document else ', no document'}": import_files._exit_code(
            model.Adoption(
                document=document,
                remarks=tuple(model.Remark(kind=kind, file="f", line=1, text="t") for kind in found),
            )
        )
        for document in ({"plugins": []}, {})
        for count in range(3)
        for found in itertools.combinations(kinds, count)
    }


def _refusals(_agent, _context):
    """A volume with several differences, of which some are refused."""
    compared = compare.Comparison(
        differences=tuple(
            compare.Difference(field=effect, desired="a", actual="b", effect=effect, why="so it is", fix="do it")
            for effect in compare._KINDS
        )
        * 2
    )
    return f"volume prod/web cannot be changed: {'; '.join(compare.sentences(compared.differences_of_kind('refused')))}"


def _failures(_agent, _context):
    """What Pulumi prints as it fails, with a secret of the environment in it."""
    texts = {
        "diagnostics": (
            json.dumps(
                {
                    "diagnostics": [
                        {"severity": each, "message": f"{each} canary-97\n\n next"} for each in ("info", "error")
                    ]
                }
            ),
            "no",
        ),
        "no diagnostics": (json.dumps({"diagnostics": None}), "error: canary-97 \n at the end"),
        "a list": ("[]", "error"),
        "no JSON": ("printed", ""),
        "many lines": ("", "\n".join(map(str, range(30)))),
    }
    with mock.patch.dict(os.environ, {"PULUMI_ACCESS_TOKEN": "canary-97"}):
        return {name: stack_cli._error_text(*each) for name, each in texts.items()}


def _claims(_agent, _context):
    """A volume with a finding and no claim, one without either, and what could not be read."""
    volume = part_deeds._volume
    found = finding("claim-vanished", "volume prod/b", found="x")
    report = claims_report.ClaimsReport(
        volumes=tuple(claim_status.VolumeClaims(volume=volume(name), claims=()) for name in ("a", "b")),
        found=(found,),
        ec2=regions.Region(reason="EC2 was not queried"),
    )
    return {"document": report.as_json(), "table": report.as_table().splitlines(), "exit": report.exit_code}


VOLUME = {"ID": "a", "PluginID": "ebs", "ExternalID": "vol-1"}
FILES = {
    "a list, the last of another type": json.dumps({"Volumes": [VOLUME, VOLUME | {"ID": "b", "type": "host"}]}),
    "a list": json.dumps({"Volumes": [VOLUME, VOLUME | {"ID": "b"}]}),
    "JSON with the word job": json.dumps({"Volumes": [VOLUME | {"Name": "\njob x {"}]}),
    "a template over lines in a job": 'job "a" {\n  meta {\n    x = "${\n  y\n}"\n  }\n}\n',
    "a template over lines in a volume": 'id = "${\n x}"\ntype = "csi"\n',
}


def _parsed(_agent, _context):
    shown = {}
    for name, text in FILES.items():
        try:
            found = parsed.parse(text, "f")
            shown[name] = [found.kind, found.form, len(found.volumes), len(found.jobs)]
        except errors.NomadCsiError as error:
            shown[name] = str(error)
    return shown


def _sets(_agent, _context):
    """Numbered volumes, as many as a set may have and more."""
    shown = {}
    for count in (1, 2, 1000, 1001):
        volumes = [{"id": f"d[{number}]", "plugin_id": "ebs"} for number in range(count)]
        found = short_form._sets(volumes)
        shown[str(count)] = [len(found), found[0]]
    return shown


def _projects(_agent, _context):
    """The files and the next steps of each kind of project, and what an existing file lacks."""
    shown = {}
    for form, storages in itertools.product(project.FORMS, [(each,) for each in project.STORAGES] + [("ebs", "efs")]):
        wanted = project.Wanted(
            form=form,
            storages=storages,
            region="us-east-1",
            zones=("us-east-1a",),
            role_name="nodes",
            client_cidr="10.0.0.0/16",
            file_system_id="fs-0123456789abcdef0",
            project="shop",
            stack="dev",
            version="1.2.3",
            stack_config="Pulumi.dev.yaml",
            program=project.PROGRAMS.get(form, ""),
        )
        name = f"{form} {' '.join(storages)}"
        if storages == ("ebs", "efs"):
            other = dataclasses.replace(wanted, project_file="Pulumi.yml", requirements="needs.txt")
            shown[f"{name} in a project"] = {part.path: [part.text, part.addition] for part in project.files(other)}
        shown[f"{name}: steps"] = project.steps(wanted)
        for part in project.files(wanted):
            others = {"": "", "itself": part.text, "its addition": part.addition, "the name alone": "x: nomad-csi\n"}
            shown[f"{name}: {part.path}"] = [part.text, {what: part.lacking(each) for what, each in others.items()}]
    return spec_deeds.paths(shown)


PLANNED = ("default/web", "default/logs", "prod/web", "prod/disk[0]", "prod/disk[1]")
NAMED = {
    "none": [],
    "of one namespace": [("prod", "web")],
    "without a namespace": [("", "logs")],
    "in two namespaces": [("", "web")],
    "a set": [("", "disk")],
    "of a set": [("prod", "disk[1]"), ("prod", "disk[1]")],
    "like one": [("prod", "wbe")],
    "like one, without a namespace": [("", "dsik")],
    "of another namespace": [("default", "disk")],
    "like none": [("", "xxxxxxx"), ("prod", "zzzzzzz"), ("", "logs")],
}


def _chosen(agent, _context):
    """The volumes of a spec that a command line names, and what is said of names that name none."""
    planned = [types.SimpleNamespace(key=key) for key in PLANNED]
    for name, keys in NAMED.items():
        try:
            with click.Context(click.Command("verify")):
                found = [each.key for each in inputs.chosen_volumes(planned, keys)]
        except command.UsageError as error:
            found = str(error)
        agent.messages.append(f"{name}: {found}")


OUTPUTS = {
    "none": None,
    "nothing of ours": "{}",
    "no volumes": '{"externalIds": {}}',
    "volumes": '{"externalIds": {"prod/web": "vol-1", "default/logs": "fs-1"}, "x": 1}',
    "not known yet": '{"externalIds": null}',
    "a list": '{"externalIds": ["vol-1"]}',
    "a number": '{"externalIds": {"prod/web": 1}}',
    "one is not known": '{"externalIds": {"prod/web": "vol-1", "default/logs": null}}',
    "secret": '{"externalIds": "[secret]"}',
    "another document": "[]",
    "no JSON": "externalIds: {}",
    "no text": b"\xff",
}


def _outputs(agent, _context):
    """The ids of storage in the outputs of a stack; what is not of that form is refused."""
    path = agent.folder / "outputs.json"
    for name, text in OUTPUTS.items():
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            found = inputs.read_external_ids(None if text is None else path)
        except errors.SpecError as error:
            found = str(error).replace(str(path), "FILE")
        agent.messages.append(f"{name}: {found}")
    path.unlink()


def _texts(agent, _context):
    """Files that are text, and where others stop being that."""
    path = agent.folder / "file"
    for content in (b"", "a é".encode(), b"a \xe9", b"a\xc3", b"\xff\xfe", b"\xe2\x82x"):
        path.write_bytes(content)
        try:
            found = repr(inputs.text(path))
        except errors.SpecError as error:
            found = str(error).replace(str(path), "FILE")
        agent.messages.append(f"{content}: {found}")
    path.unlink()


class _Stream(io.StringIO):
    """A stream that may be a terminal."""

    is_terminal = False

    def isatty(self):
        """Return whether it is a terminal."""
        return self.is_terminal


def _written(agent, _context):
    """What reaches a stream of what is written to it: text, colours, control characters, secrets, several lines."""
    texts = ["", "a\n", "\x1b[31mred\x1b[0m \x07\n", "with canary-66 in it\n", "\u202eb\n"]
    for is_terminal, color in itertools.product((False, True), ("auto", "always", "never")):
        for how in ("write", "writelines"):
            stream = _Stream()
            stream.is_terminal = is_terminal
            guard = output.Guard(stream)
            guard.secrets += ("canary-66",)
            with mock.patch.object(output.SETTINGS, "color", color):
                given = map(guard.write, texts) if how == "write" else [guard.writelines(texts)]
                agent.messages.append(f"{how}, {is_terminal}, {color}: {[*given]} {stream.getvalue()!r}")


CLIENTS = {
    "ready": {},
    "down": {"status": "down"},
    "ineligible": {"eligible": False},
    "draining": {"draining": True},
    "other driver unhealthy": {"drivers": {"docker": True, "exec": False}},
}
INSTANCES = {"healthy": (True, "a"), "unhealthy": (False, "a"), "healthy in another zone": (True, "b"), "none": None}
PLACES = {
    "anywhere": (),
    "a zone": ({"zone": "a"},),
    "two zones": ({"zone": "a"}, {"zone": "b"}),
    "a rack": ({"zone": "a", "rack": "1"},),
}


def _fitting(agent, _context):
    """Which clients a smoke test may use: each state of the client, of its instance, each topology of the volume."""
    for (name, changes), (health, instance) in itertools.product(CLIENTS.items(), INSTANCES.items()):
        node = dataclasses.replace(reply_deeds.NODE, **{"drivers": {"docker": True}} | changes)
        held = (
            [types.SimpleNamespace(node_id="n", healthy=instance[0], segments={"zone": instance[1]})]
            if instance
            else []
        )
        taken = []
        for place, topologies in PLACES.items():
            volume = types.SimpleNamespace(plugin_id="ebs", topologies=topologies)
            with (
                mock.patch.object(smoke.plugins, "get", return_value=types.SimpleNamespace(nodes=held)),
                mock.patch.object(smoke.nodes, "list_nodes", return_value=[node]),
            ):
                taken += [f"{place} by {sorted(each.drivers)}" for each in smoke._fitting(None, volume)]
        agent.messages.append(f"{name}, instance {health}: {', '.join(taken) or 'no volume'}")


MODES = """capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
"""
VOLUME_FILE = f"""id          = "data"
plugin_id   = "ebs"
external_id = "vol-1"
{MODES}"""
HIDDEN = "# Its secrets (key, other) are sent with the registration.\n# 2 of its mount flags are encrypted\n"
VOLUME_FILES = {
    "right": VOLUME_FILE,
    "a namespace of its own": f'namespace = "prod"\n{VOLUME_FILE}',
    "no capability": VOLUME_FILE.replace(MODES, ""),
    "two wrong capabilities": VOLUME_FILE + MODES.replace("single", "every") + MODES.replace("file-system", "file"),
    "less than its minimum": f'{VOLUME_FILE}capacity_min = "20GiB"\ncapacity_max = "10GiB"\n',
    "its minimum": f'{VOLUME_FILE}capacity_min = "20GiB"\ncapacity_max = "20GiB"\n',
    "a minimum alone": f'{VOLUME_FILE}capacity_min = "20GiB"\n',
    "two origins": f'{VOLUME_FILE}snapshot_id = "snap-1"\nclone_id = "vol-2"\n',
    "wrong names": VOLUME_FILE.replace("data", "d/a").replace('"ebs"', '"e b"') + 'namespace = "a_b"\n',
    "no storage": VOLUME_FILE.replace('external_id = "vol-1"', ""),
    "hidden": HIDDEN + VOLUME_FILE,
    "hidden, of which one is there": f'{HIDDEN}{VOLUME_FILE}secrets {{ key = "canary-9" }}\nmount_options {{ mount_flags = ["ro"] }}\n',
    "shared": f"# Another volume may have its storage (shares_storage).\n{VOLUME_FILE}",
    "a job": 'job "x" {\n}\n',
    "a policy": 'namespace "x" {\n  policy = "read"\n}\n',
}


def _volume_files(agent, _context):
    """What is read of volume files, and what is wrong with them: all of it."""
    path, usual = agent.folder / "v.volume.hcl", None
    for name, text in VOLUME_FILES.items():
        path.write_text(text)
        try:
            found = dict(deeds.flat(json.loads(agents.as_text(volume_file.read(path, namespace="team")))))
            usual = usual or found
            agent.messages.append(f"{name}: {agents.as_text(deeds.changes(usual, found))}")
        except errors.SpecError as error:
            agent.messages.append(f"{name}: {str(error).replace(str(path), 'FILE')}")
    path.unlink()
    return usual | {"[0].path": ""}


CASES = (
    Case("exit codes of an import", _exit_codes),
    Case("refusals of a change", _refusals),
    Case("failures of Pulumi", _failures),
    Case("claims", _claims),
    Case("files", _parsed),
    Case("sets", _sets),
    Case("projects", _projects),
    Case("volumes chosen", _chosen),
    Case("outputs of a stack", _outputs),
    Case("texts", _texts),
    Case("writes", _written),
    Case("clients of a smoke test", _fitting),
    Case("volume files", _volume_files),
)
