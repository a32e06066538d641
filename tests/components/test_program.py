"""What a program of one's own sees of a refusal."""

import json
import signal
import subprocess
import sys

import pulumi
import pulumi_aws as aws
import pytest

import nomad_csi
from nomad_csi import components, errors
from nomad_csi.components import program, scope, stack
from nomad_csi.provider import hosting

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}


@pytest.fixture
def handler():
    """Set the handler of SIGINT for this test: ``handler(signal.SIG_IGN)``."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda given: signal.signal(signal.SIGINT, given)
    signal.signal(signal.SIGINT, before)


def refused():
    with pytest.raises(errors.NomadCsiError) as caught:
        nomad_csi.EbsVolume("mysql", EBS | {"size_gib": 0})
    return caught.value


@pytest.mark.usefixtures("handler")
def test_engine_prints_a_refusal_without_a_traceback():
    """It does so of a `RunError`; the provider plugin, which says it in its own way, has all problems."""
    error = refused()

    assert isinstance(error, pulumi.RunError)
    assert str(error) == "EbsVolume mysql: 1 problem\n  size_gib: expected 1 to 65536 for gp3, got 0"
    assert [problem.path for problem in error.problems] == ["size_gib"]


@pytest.mark.parametrize(
    ("name", "args", "line"),
    [
        ("my sql", {}, "name: expected letters, digits, '.', '_' or '-', not '.' or '..', optionally an index"),
        ("mysql", {"volume_id": "my sql"}, "volume_id: expected letters, digits, '.', '_' or '-', not '.'"),
    ],
)
def test_id_is_called_as_the_program_gives_it(name, args, line):
    """By the name of the component, or by the argument."""
    with pytest.raises(errors.SpecError) as caught:
        nomad_csi.EbsVolume(name, EBS | args)

    [problem] = caught.value.problems
    assert str(problem).startswith(line)


def test_resource_where_its_output_is_meant_is_told_with_the_output(cloud):
    """At any depth, all together."""

    def program():
        role = aws.iam.Role("clients", assume_role_policy="{}")
        plugin = nomad_csi.CsiPlugin("ebs0", driver="aws-ebs", aws_region="us-east-1")
        nightly = nomad_csi.EbsSnapshots("nightly", keep=7)
        wrong = EBS | {"plugin_id": plugin, "snapshots": [(nightly,)]}
        for component, args in ((nomad_csi.EbsVolume, wrong), (nomad_csi.CsiPlugin, {"iam": {"role_name": role}})):
            with pytest.raises(errors.NomadCsiError) as caught:
                component("data", args)
            said.append(str(caught.value))

    said = []
    cloud.settle(program)

    assert said == [
        "EbsVolume data: 2 problems\n"
        "  plugin_id: expected a value, got the CsiPlugin itself; pass plugin.plugin_id\n"
        "  snapshots[0][0]: expected a value, got the EbsSnapshots itself; pass one of its outputs",
        "CsiPlugin data: 1 problem\n  iam.role_name: expected a value, got the Role itself; pass one of its outputs",
    ]


@pytest.mark.parametrize("late", [False, True])
def test_program_in_another_language_reads_its_own_names(cloud, late):
    """Those of the schema, in paths and in what to do, whether a value is known at once or later."""

    def program():
        iops = pulumi.Output.from_input(6000) if late else 6000
        given = {"pluginId": "aws-ebs0", "availabilityZone": "us-east-1a", "sizeGib": 5.0, "iops": iops}
        with scope.shared_scope(scope.Scope(is_hosted=True)):
            args = hosting.component_arguments(given, "nomad-csi:index:EbsVolume")
            nomad_csi.EbsVolume("data", args)

    with pytest.raises(errors.NomadCsiError) as caught:
        cloud.settle(program)

    assert str(caught.value) == (
        "EbsVolume data: 1 problem\n"
        "  iops: expected 3000 for gp3 of 5 GiB (500 a GiB), got 6000; for 6000 use sizeGib 12 or more"
    )


@pytest.mark.parametrize(("name", "code"), [("pulumi-language-python-exec", -signal.SIGINT), ("other", 1)])
def test_interrupt_of_the_engine_ends_a_program_without_a_traceback(name, code):
    """The engine sends it when a resource fails, and has said why. Elsewhere Python's own way stays."""
    text = "import os, signal, sys; from nomad_csi.components import program"
    text += "; program.end_quietly(); os.kill(os.getpid(), signal.SIGINT)"

    done = subprocess.run([sys.executable, "-c", text, name], capture_output=True, text=True, check=False)

    assert ("KeyboardInterrupt" in done.stderr) is (name == "other")
    assert done.returncode in {code, -signal.SIGINT}


def test_handler_of_the_program_stays(monkeypatch, handler):
    """Whoever handles the signal goes on to."""
    handler(signal.SIG_IGN)
    monkeypatch.setattr(sys, "orig_argv", ["python3", "pulumi-language-python-exec"])

    program.end_quietly()

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_every_public_name_is_there():
    """With the argument class of each component, in both packages alike."""
    homes = {name: getattr(nomad_csi, name) for name in nomad_csi.__all__}

    assert {f"{each.__name__}Args" for each in components.COMPONENTS} <= set(homes)
    assert set(nomad_csi.__all__) - set(components.__all__) == {"storage_stack"}
    assert all(homes[name] is getattr(components, name) for name in components.__all__)


@pytest.mark.parametrize("namespace", ["nomad-csi", "shop"])
def test_ready_stack_reads_its_config_in_a_project_of_any_name(monkeypatch, request, namespace):
    """Under the name that all pages use, unless the project has its own."""
    monkeypatch.setattr(pulumi.config, "get_project", lambda: "shop")
    pulumi.runtime.set_all_config({f"{namespace}:storage": json.dumps({"plugins": []})}, [])
    request.addfinalizer(lambda: pulumi.runtime.set_all_config({}, []))

    found = stack.own_config().require_object("storage")

    assert found == {"plugins": []}


@pytest.mark.usefixtures("handler")
def test_ready_stack_with_a_wrong_spec_logs_the_problems_and_fails(monkeypatch, request):
    """With the exit code of a program that has said why; else an `up` of nothing would succeed, and remove storage."""
    logged = []
    monkeypatch.setattr(pulumi.config, "get_project", lambda: "shop")
    monkeypatch.setattr(pulumi.log, "error", logged.append)
    pulumi.runtime.set_all_config({"nomad-csi:storage": json.dumps({"plugins": [{"id": "a"}]})}, [])
    request.addfinalizer(lambda: pulumi.runtime.set_all_config({}, []))

    with pytest.raises(SystemExit) as ended:
        nomad_csi.storage_stack()

    assert ended.value.code == 32
    assert ["plugins[0] (a).driver: expected" in text for text in logged] == [True]
