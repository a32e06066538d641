"""A page for each driver of the catalogue, and the page that lists them."""

import yaml

from nomad_csi.drivers import catalogue, facts
from tests.pages import escaped, table

LITERAL = frozenset({"arguments", "binds", "environment", "image"})
"""Labels of values that are literal in a job file."""

NOT_SHOWN = frozenset({"arguments_source", "as_of", "evidence", "flag_versions", "sources"})
"""Labels of what stands on the page on tests, and where a fact comes from."""

HEAD = """# CSI drivers

The drivers of the catalogue: what each needs on Nomad, the keys that it takes, and its known issues. Their jobs run
with Docker, Podman, `exec` or `raw_exec`. `nomad-csi drivers NAME` prints the same: the labels are the keys of a driver
in a spec.
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
    for section in facts.sections(driver):
        if section.title == "Known issues":
            parts.append("## Known issues")
            parts.append("\n".join(f"- {escaped(issue.text)}" for issue in driver.known_issues))
        else:
            parts.append(f"## {section.title}")
            parts += _facts([fact for fact in section.facts if fact.label not in NOT_SHOWN])
    return "\n\n".join(parts)


def _facts(found):
    """Yield one table of the facts in one line, then a short list for each of the others."""
    if single := [(f"**{fact.label}**", _quoted(fact, fact.lines[0])) for fact in found if len(fact.lines) == 1]:
        yield "\n".join(table(("", ""), single)).rstrip()
    for fact in found:
        if len(fact.lines) > 1:
            lines = "\n".join(f"- {_quoted(fact, line)}" for line in fact.lines)
            yield f"**{fact.label}**\n\n{lines}"


def _quoted(fact, line):
    return f"`{line}`" if fact.label in LITERAL else escaped(line)
