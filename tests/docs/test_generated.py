"""The generated pages are what `python -m tests.pages` writes."""

import re

import pytest

from nomad_csi import cli, components
from nomad_csi.drivers import catalogue
from nomad_csi.findings import registry
from tests.pages import MARK, commands, drivers, findings, pages, tested
from tests.schema import examples

GENERATED = pages.generated()
COMPONENTS = "reference/components.md"
"""Takes several seconds: `test_generated_components`."""


@pytest.mark.parametrize("path", sorted(GENERATED.keys() - {COMPONENTS}))
def test_page_is_the_one_that_is_written(path):
    """Whoever changes a declaration writes the pages again."""
    assert (pages.DOCS / path).read_text(encoding="utf-8") == pages.text_of(GENERATED[path])


def test_pages_say_first_by_which_command_they_are_written():
    """And none is left of what is not declared any more."""
    assert MARK == "<!-- generated: python -m tests.pages -->"
    assert pages.on_disk() == set(GENERATED)


def test_every_finding_stands_once():
    """With its severity, its fix, and the commands that report it."""
    text = findings.page()

    assert sorted(line for line in text.splitlines() if line.startswith("### ")) == sorted(
        f"### `{code}`" for code in registry.codes()
    )
    assert "### `type-missing`\n\nError (`check`). The file has no type. " in text


def test_every_command_has_its_options():
    """Those of the connection stand once, at the end."""
    text = commands.page()

    titles = {line.strip("#` ").partition(" ")[0] for line in text.splitlines() if line.startswith("### ")}
    assert titles == set(cli.COMMANDS)
    assert "### `snapshot create`\n" in text
    assert text.count("| `--address ") == 1


@pytest.mark.parametrize("driver", catalogue.DRIVERS.values(), ids=catalogue.DRIVERS)
def test_page_of_a_driver_has_its_issues_and_no_evidence(driver):
    """Where and when it was tried stands on a page of its own."""
    page = drivers.pages()[driver.name]
    issues = page.partition("## Known issues")[2]

    assert issues.count("\n- ") == len(driver.known_issues)
    assert not [each for each in driver.sources if each in page]
    assert all(each in tested.page() for each in driver.sources)


def test_every_component_has_its_arguments_and_outputs():
    """With an example in four languages, and what a change of each argument does, as the resources decide it."""
    text = (pages.DOCS / COMPONENTS).read_text(encoding="utf-8")
    ebs = text.partition("## `EbsVolume`")[2].partition("\n## ")[0]

    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [f"## `{kind.__name__}`" for kind in components.COMPONENTS]
    assert [text.count(f"```{one.name}\n") for one in examples.LANGUAGES] == [len(headings)] * 4
    changes = dict(re.findall(r'^\| <a id="ebsvolume-\w+"></a>`(\w+)` \| `Input.*\| (.*) \|$', ebs, re.MULTILINE))
    assert list(changes)[:3] == ["plugin_id", "availability_zone", "size_gib"]
    assert changes["size_gib"] == "Volume: in place"
    assert changes["availability_zone"] == (
        "VolumeRegistration: registered again; Volume: replaced (refused while protected)"
    )
    assert changes["plugin_id"] == "VolumeRegistration: registered again"
    assert changes["adopt"] == "VolumeRegistration: no change"
