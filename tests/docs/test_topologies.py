"""The programs of the page of topologies are what they say, in each language that the machine has."""

import json
import os
import shutil
import subprocess

import pulumi
import pytest
import yaml

from nomad_csi import testing
from nomad_csi.provider import hosting
from tests.event_loop import _event_loop  # noqa: F401  # a fixture
from tests.pages.topologies import TOPOLOGIES
from tests.schema import examples

LANGUAGES = {language.name: language for language in examples.LANGUAGES}


@pytest.fixture(scope="module")
def written():
    """Write a topology in a language: ``written("go", title)``."""
    package = json.loads(hosting.Hosted().schema)
    return lambda language, title: examples.program(LANGUAGES[language], package, TOPOLOGIES[title])


def declared(title):
    """Return the types of the components of a topology by their names."""
    return {label: f"nomad-csi:index:{kind}" for kind, label, _ in TOPOLOGIES[title]}


@pytest.mark.parametrize("title", TOPOLOGIES)
def test_program_in_python_declares_the_topology(written, title):
    """In a preview: every rule of the spec and of the components holds."""
    mocks = testing.Mocks()
    pulumi.runtime.set_mocks(mocks, project="topologies", stack="prod", preview=True)

    pulumi.runtime.test(lambda: exec(written("python", title), {}) and None)()  # noqa: S102  # the program is ours

    kinds = set(declared(title).values())
    assert {item.name: item.typ for item in mocks.resources if item.typ in kinds} == declared(title)


@pytest.mark.parametrize("title", TOPOLOGIES)
def test_program_in_yaml_declares_the_same(written, title):
    """By name and type."""
    document = yaml.safe_load(written("yaml", title))

    assert {name: item["type"] for name, item in document["resources"].items()} == declared(title)


@pytest.mark.skipif(shutil.which("gofmt") is None, reason="not on PATH: gofmt")
@pytest.mark.parametrize("title", TOPOLOGIES)
def test_program_in_go_is_as_gofmt_writes_it(written, title, tmp_path):
    """So it parses; `tests/real` compiles it, and the one in TypeScript, with the generated SDKs."""
    text = written("go", title)

    own = os.environ | {"XDG_CONFIG_HOME": str(tmp_path)}  # where Go keeps its telemetry
    done = subprocess.run(["gofmt"], input=text, capture_output=True, text=True, timeout=60, check=False, env=own)

    assert (done.returncode, done.stdout) == (0, text), done.stderr
