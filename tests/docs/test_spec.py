"""The page of the spec says what the models say, and its examples can be planned."""

import re
from pathlib import Path

import pytest
import yaml

from nomad_csi.hcl import documents
from nomad_csi.plan import storage
from nomad_csi.spec import draft, schema
from tests.page_examples import EXAMPLES

PAGE = Path(__file__).parents[2] / "docs/reference/spec.md"


def test_every_key_has_a_meaning():
    """No row of a table ends in nothing."""
    assert [line for line in PAGE.read_text().splitlines() if line.endswith("|  |")] == []


@pytest.mark.parametrize(
    "row",
    [
        "| `id` | text | required | Allowed: at most 63 letters",
        "| `size_gib` | whole number | required |",
        "| `protect` | true or false | `true` |",
        "| `kms_key_arn` | text | - |",
    ],
)
def test_table_says_what_is_required_and_what_a_default_is(row):
    """In words that stand here, not made by what makes the page."""
    assert [line for line in PAGE.read_text().splitlines() if line.startswith(row)] != []


def test_every_link_has_a_table():
    """Types that are tables are on the page."""
    text = PAGE.read_text()
    headings = {f"#{re.sub('[^a-z_]', '', heading)}" for heading in re.findall(r"^### `(.+)`$", text, re.MULTILINE)}
    links = set(re.findall(r"\]\((#[a-z_]+)\)", text))

    assert len(links) > 30
    assert links <= headings


def test_pattern_of_a_key_is_told_in_words():
    """By editors."""
    assert schema.document()["$defs"]["PluginSpec"]["properties"]["id"]["patternErrorMessage"] == (
        "at most 63 letters, digits, '.', '_' or '-', not starting with '.'"
    )


@pytest.mark.parametrize("title", EXAMPLES)
def test_example_can_be_planned_and_rendered(title):
    """Each is a whole spec without a problem."""
    plan = storage.plan_document(draft.read_yaml(EXAMPLES[title], title))

    rendered = [documents.job_file(job) for plugin in plan.plugins for job in plugin.jobs]
    assert rendered
    assert all(text.startswith("# Rendered by nomad-csi.") for text in rendered)


@pytest.mark.parametrize("title", EXAMPLES)
def test_example_fits_the_schema(title):
    """Every key of an example is one of the schema, at its place."""
    assert list(_unknown(yaml.safe_load(EXAMPLES[title]), schema.document(), "")) == []


def _unknown(value, part, path):
    """Yield the keys of *value* that *part* of the schema does not know."""
    if "$ref" in part:
        part = schema.document()["$defs"][part["$ref"].rpartition("/")[2]]
    choices = [item for item in part.get("anyOf", part.get("oneOf", ())) if item.get("type") != "null"]
    if choices:
        found = [list(_unknown(value, choice, path)) for choice in choices if _is_like(value, choice)]
        yield from min(found, key=len)
    elif isinstance(value, list):
        for item in value:
            yield from _unknown(item, part["items"], path)
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = part.get("properties", {}).get(key, _of_any_name(part))
            below = f"{path}.{key}" if path else key
            if inner is False:
                yield below
            elif inner is not True:
                yield from _unknown(item, inner, below)


def _of_any_name(part):
    named = list(part.get("patternProperties", {}).values())
    return named[0] if named else part.get("additionalProperties", True)


def _is_like(value, choice):
    return isinstance(value, dict) == ("$ref" in choice or choice.get("type") == "object")
