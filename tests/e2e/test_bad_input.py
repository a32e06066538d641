"""What cannot work, on a whole run: what an operator reads, and that nothing was made, changed or registered."""

import json
import sys

import pytest
import yaml

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes
from tests import acl

FILE_SYSTEM = "fs-0123456789abcdef0"

PROGRAM = """\
import pulumi
from nomad_csi import ExistingVolume

if volume := pulumi.Config().get_object("volume"):
    ExistingVolume("legacy", volume)
"""
VOLUME = {"plugin_id": "aws-efs0", "driver": "aws-efs", "external_id": FILE_SYSTEM}


@pytest.fixture
def program(tmp_path):
    """Return the words that name a program of one's own to the engine, with a volume in its config."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: one-of-ones-own\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    words = ["--project", folder, "--stack", "dev", "--state", folder / "state.json", "--skip-preview"]
    return lambda **config: [*words, *(f"--config={name}={json.dumps(value)}" for name, value in config.items())]


@pytest.fixture
def guarded(tmp_path):
    """The address of an agent with ACLs on, where token ``limited`` may read another namespace."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    limited = {"limited": acl.rules({"another": {"policy": "read"}}, plugin="", node="")}
    settings = cluster.Settings(data_dir=tmp_path / "guarded", nodes=specs, token="right", tokens=limited)
    made = cluster.Cluster(settings)
    with server.Server(made) as serving:
        yield serving.url


def engine(sandbox, operation, *words, without=(), **variables):
    """Run the engine itself in the sandbox's environment, less the variables *without* and with *variables*."""
    change = [word for name in without for word in ("-u", name)]
    change += [f"{name}={value}" for name, value in variables.items()]
    command = [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, *map(str, words)]
    return sandbox.run("exec", "--", "env", *change, *command)


def of_project(sandbox):
    """Return the words that name the sandbox's own project to the engine."""
    config = sandbox.project / ".sandbox/Pulumi.sandbox.yaml"
    return ["--project", sandbox.project, "--stack", "sandbox", "--config-file", config, "--state", sandbox.state]


def writes(sandbox, since):
    """Return path and method of everything that changed Nomad after *since* requests."""
    harmless = ("/plan", "/jobs/parse", "/validate/job")
    seen = sandbox.requests()[since:]
    return [
        (item["method"], item["path"])
        for item in seen
        if item["method"] != "GET" and not item["path"].endswith(harmless)
    ]


@pytest.fixture
def unchanged(untouched):
    """The shared sandbox; afterwards neither its state nor anything in Nomad may have changed."""
    state = untouched.state.read_bytes()
    since = len(untouched.requests())
    yield untouched
    assert untouched.state.read_bytes() == state
    assert writes(untouched, since) == []


def test_all_problems_of_a_spec_are_told_before_anything_is_started(sandbox):
    """An unknown key and a zone that is none: each with its place, in one go, and no process runs."""

    def spoil(storage):
        storage["plugins"][0]["contoller"] = {"count": 1}
        storage["volumes"][0]["ebs"] = {"availability_zone": "us-east-1", "size_gib": 10}

    sandbox.edit(spoil)

    done = sandbox.up()

    assert (done.returncode, done.stdout) == (2, "")
    head, *lines = done.stderr.splitlines()
    assert head == "error: Pulumi.sandbox.yaml: 2 problems"
    assert lines == [
        "  plugins[0] (aws-ebs0).contoller: unknown key; did you mean controller?",
        "  volumes[0] (mysql).ebs.availability_zone: expected an Availability Zone such as us-east-1a, got 'us-east-1'",
    ]
    assert not sandbox.data_dir.exists()
    assert not (sandbox.project / ".sandbox/record.json").exists()


def test_the_program_itself_tells_all_problems_before_it_declares_anything(unchanged):
    """Under Pulumi there is no sandbox command in front of it."""
    document = yaml.safe_load(unchanged.config.read_text())
    storage = document["config"]["nomad-csi:storage"]
    storage["plugins"][0]["contoller"] = {}
    storage["volumes"][0]["ebs"] = {"availability_zone": "us-east-1", "size_gib": 10}
    wrong = unchanged.project / "wrong.yaml"
    wrong.write_text(yaml.safe_dump(document))
    words = ["--project", unchanged.project, "--stack", "sandbox", "--config-file", wrong, "--state", unchanged.state]

    done = engine(unchanged, "up", *words)

    assert done.returncode == 1
    assert "nomad-csi:storage: 2 problems" in done.stdout
    assert "plugins[0] (aws-ebs0).contoller: unknown key" in done.stdout
    assert "volumes[0] (mysql).ebs.availability_zone: expected an Availability Zone" in done.stdout


def test_missing_aws_credentials_are_told_before_anything_is_made(unchanged):
    """The first question to AWS is asked before the first resource is declared."""
    keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]

    done = engine(unchanged, "up", *of_project(unchanged), without=keys)

    assert done.returncode == 1
    fix = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    assert f"error: AWS credentials: none found; {fix}" in done.stdout


def test_a_refused_token_is_told_with_the_capability_that_the_call_needs(unchanged, guarded):
    """A preview that may not look says so, and passes over nothing."""
    own = acl.of_sandbox(unchanged.variables()["NOMAD_CSI_SANDBOX"], "limited")
    done = engine(unchanged, "preview", *of_project(unchanged), NOMAD_ADDR=guarded, **own)

    assert done.returncode == 1
    assert "status 403: Permission denied; the token needs " in done.stdout
    assert "in namespace default" in done.stdout


def test_a_registration_that_differs_is_taken_over_only_when_told(untouched, program):
    """Refused with both values and the ways out; with adopt, changed in place."""
    reader = registration.Capability(access_mode="multi-node-reader-only", attachment_mode="file-system")
    writer = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
    by_hand = registration.VolumeRegistration(
        volume_id="legacy", name="legacy", external_id=FILE_SYSTEM, plugin_id="aws-efs0", capabilities=(reader,)
    )
    with untouched.nomad() as client:
        volumes.register(client, by_hand)

        refused = engine(untouched, "up", *program(volume=VOLUME))
        kept = volumes.get(client, "default", "legacy")
        adopted = engine(untouched, "up", *program(volume=VOLUME | {"adopt": True}))
        changed = volumes.get(client, "default", "legacy")
        destroyed = engine(untouched, "destroy", *program())
        left = volumes.get(client, "default", "legacy")

    assert refused.returncode == 1
    assert (
        "volume default/legacy is registered already, and not by this stack as it is now: capabilities: removed "
        in (refused.stdout)
    )
    assert "set adopt: true to take it over, import it, or choose another id" in refused.stdout
    assert kept.capabilities == (reader,)
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert changed.capabilities == (writer,)
    assert (destroyed.returncode, left) == (0, None)
