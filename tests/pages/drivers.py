"""A page for each driver of the catalogue, and the page that lists them."""

import yaml

from nomad_csi.drivers import catalogue, facts
from tests.pages import escaped, table

NOT_SHOWN = frozenset(
    {
        *("arguments_source", "as_of", "evidence", "flag_versions", "source", "sources"),  # on the page on tests
        *("name", "title", "known_issues", "example"),  # elsewhere on the page
        *("pattern", "gone", "snapshot_id", "snapshot_part_of_volume"),  # regular expressions; the text is beside them
    }
)
"""Keys of a row that are left out of its YAML on the page."""

HEAD = """# CSI drivers

The drivers of the catalogue: what each needs on Nomad, the keys that it takes, and its known issues. Their jobs run
with Docker, Podman, `exec` or `raw_exec`. `nomad-csi drivers NAME` prints the same: the keys are those of a driver in a
spec.
[How it was tested](../../explain/how-it-was-tested.md) says how far each driver was run. A spec can also describe a
[driver that is not listed](../spec.md#custom-drivers)."""


def pages():
    """Return the text of each page by the name of its file."""
    return {
        "index": _index(),
        **{name: _driver(each) for name, each in catalogue.DRIVERS.items()},
    }


def _index():
    rows = [
        (f"[{each.title}]({each.name}.md)", f"`{each.name}`", each.version, ", ".join(each.roles), facts.tier(each))
        for each in catalogue.DRIVERS.values()
    ]
    parts = [HEAD, "\n".join(table(("driver", "`driver:`", "version", "roles", "tested"), rows)).rstrip()]
    tiers = [f"- *{name}*: {meaning}" for name, meaning in facts.TIERS.items()]
    parts.append("\n".join(["What *tested* means:", "", *tiers]))
    for each in catalogue.UNUSABLE.values():
        parts.append(f"## {each.title}: cannot run on Nomad")
        parts.append(f"{escaped(each.reason)}. Instead: {escaped(each.instead)}.")
    return "\n\n".join(parts)


def _driver(driver):
    example = yaml.safe_dump(facts.example(driver), sort_keys=False, width=facts.WIDTH)
    parts = [
        f"# {driver.title}",
        f"```yaml\n{example}```",
        f"Replace {escaped(driver.example.replace)}.",
    ]
    parts.append(f"## In general\n\n```yaml\n{facts.as_text(driver, NOT_SHOWN)}```")
    if driver.known_issues:
        parts.append("## Known issues")
        parts.append("\n".join(f"- {escaped(issue.text)}" for issue in driver.known_issues))
    return "\n\n".join(parts)
