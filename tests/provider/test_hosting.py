"""The components are hosted beside the custom resources, and imported only when somebody asks for them."""

import json
import subprocess
import sys
import types
from importlib import metadata

import pytest

from nomad_csi import components
from nomad_csi.components import scope
from nomad_csi.frame import registry
from nomad_csi.provider import about, hosting
from tests import deadlines


def test_one_schema_has_components_and_custom_resources():
    """One package has both, under its name and version."""
    hosted = hosting.Hosted()

    package = json.loads(hosted.schema)

    assert (hosted.version, package["name"], package["version"]) == (
        about.version(),
        "nomad-csi",
        about.version(),
    )
    named = {f"nomad-csi:index:{item.__name__}" for item in components.COMPONENTS}
    assert set(package["resources"]) == named | set(registry.TOKENS)
    assert all(package["resources"][token]["isComponent"] for token in named)


@pytest.mark.parametrize(
    ("start", "spared"),
    [
        (
            "import nomad_csi.provider.serving",
            {"pulumi_aws", "jinja2", "pydantic", "nomad_csi.diagnosis", "nomad_csi.volumes", "nomad_csi.health"},
        ),
        (
            "from nomad_csi.frame import registry; all(map(registry.find, registry.TOKENS))",
            {"pulumi_aws", "jinja2", "nomad_csi.diagnosis", "nomad_csi.hcl.documents"},
        ),
        ("from nomad_csi import VolumeRegistration", {"pulumi_aws", "jinja2", "pydantic"}),
    ],
)
def test_a_start_imports_only_what_every_run_needs(start, spared):
    """A run pays for no component, template or linter; its start for no model of the spec, and no kind of resource."""
    code = f"import sys; {start}; print(sorted({spared} & sys.modules.keys()))"

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=deadlines.PATIENT_S
    )

    assert answer.stdout == "[]\n"


def test_a_copy_that_is_not_installed_has_the_version(monkeypatch):
    """Of its pyproject.toml, where `pulumi package add` has made a copy of the repository."""
    installed = about.version()

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)

    assert about.version() == installed


def test_programs_share_nothing_and_components_of_one_share_what_is_declared_once():
    """A monitor is one run of a program; a provider that the program names has its own cluster and stack id."""
    urn = "urn:pulumi:dev::lab::pulumi:providers:nomad-csi::{}::id"
    runs = [
        ("127.0.0.1:1", "default_1"),
        ("127.0.0.1:1", "default_2"),
        ("127.0.0.1:1", "other"),
        ("127.0.0.1:2", "other"),
    ]
    scopes = []

    for monitor, name in runs:
        request = types.SimpleNamespace(monitorEndpoint=monitor, providers={"nomad-csi": urn.format(name)})
        with hosting.shared(request):
            scopes.append(scope._SCOPE.get())

    first, second, other, elsewhere = scopes
    assert first is second
    assert len({id(each) for each in (first, other, elsewhere)}) == 3
