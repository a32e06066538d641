"""Text that a job file cannot hold is refused by the plan, at its key; what the plan accepts is rendered."""

import copy
import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.hcl import documents
from nomad_csi.plan import storage
from nomad_csi.plan.rules import text_rules
from tests import hostile_specs

HOSTILE = (
    "${x}",
    "%{ if",
    "$${NOMAD_TASK_DIR}",
    "e\u0301",
    "\0",
    "\ud800",
    "a\ue123b",
    "a\u2028b",
    "{{ x }}",
    'q" \\ \n',
)
ROLE = "plugins[0].driver.roles.node"
PLACES = {
    f"{ROLE}.mount_dir": ("driver", "roles", "node", "mount_dir"),
    f"{ROLE}.binds[0]": ("driver", "roles", "node", "binds", 0),
    f"{ROLE}.arguments[3]": ("driver", "roles", "node", "arguments", 3),
    f"{ROLE}.environment.LEVEL": ("driver", "roles", "node", "environment", "LEVEL"),
    f"{ROLE}.credentials_environment.KEY_FILE": ("driver", "roles", "node", "credentials_environment", "KEY_FILE"),
    f"{ROLE}.network_mode": ("driver", "roles", "node", "network_mode"),
    f"{ROLE}.ipc_mode": ("driver", "roles", "node", "ipc_mode"),
    "plugins[0].driver.settings.zone.default": ("driver", "settings", "zone", "default"),
    "plugins[0].credentials.vault.path": ("credentials", "vault", "path"),
    "plugins[0].registry_credentials.vault.path": ("registry_credentials", "vault", "path"),
    "plugins[0].credentials.vault.role": ("credentials", "vault", "role"),
    "plugins[0].image": ("image",),
    "plugins[0].node_pool": ("node_pool",),
    "plugins[0].nomad_region": ("nomad_region",),
    "plugins[0].datacenters[1]": ("datacenters", 1),
    "plugins[0].config.server.host": ("config", "server", "host"),
    "plugins[0].environment.PROXY": ("environment", "PROXY"),
}
"""Places of text in `hostile_specs.SPEC`, by their paths."""


def changed(way, text):
    """Return the spec with *text* behind what stands at *way* in its plugin."""
    document = copy.deepcopy(hostile_specs.SPEC)
    *above, last = ("plugins", 0, *way)
    inside = document
    for step in above:
        inside = inside[step]
    inside[last] = f"{inside[last]}{text}"
    return document


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("text", ["${x", "%{", "e\u0301"])
def test_text_that_a_job_file_cannot_hold_is_refused_at_its_key(path, text):
    """With the path, before anything is rendered."""
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(changed(PLACES[path], text))

    assert path in {problem.path for problem in caught.value.problems}


@pytest.mark.parametrize("character", ["\ue123", "\u202e"])
def test_invisible_character_in_a_config_file_is_refused_at_its_key(character):
    """It stands in the data of a template, which has no escapes."""
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(changed(("config", "server", "host"), character))

    [problem] = caught.value.problems
    assert problem.path == "plugins[0].config.server.host"
    assert problem.got == "[not shown]"


def test_text_that_only_its_parts_make_unfit_is_refused_at_the_plugin():
    """A dollar in an argument, and a brace from a setting."""
    document = copy.deepcopy(hostile_specs.SPEC)
    driver = document["plugins"][0]["driver"]
    driver["roles"]["node"]["arguments"].append("--x={first}{zone}")
    driver["settings"] |= {"first": {"text": "t", "default": "$"}, "zone": {"text": "t", "default": "{x}"}}

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document)

    assert {problem.path for problem in caught.value.problems} == {"plugins[0]: arguments of the job"}


@pytest.mark.parametrize(
    ("way", "name", "path"),
    [
        (("plugins", 0, "driver", "roles", "node", "mount_dir"), None, "plugins[0].driver.roles.node.mount_dir"),
        (("plugins", 0, "datacenters", 1), None, "plugins[0].datacenters[1]"),
        (("plugins", 0, "environment"), "A\ud800", "plugins[0].environment.A?"),
        (("volumes", 0, "context"), "\udc80", "volumes[0].context.?"),
    ],
)
def test_half_a_character_is_refused_at_its_key(way, name, path):
    """JSON can hold it as an escape; no file and no request can."""
    document = copy.deepcopy(hostile_specs.SPEC)
    *above, last = way
    inside = document
    for step in above:
        inside = inside[step]
    inside[last] = f"{inside[last]}\ud800" if name is None else {name: "x"}

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document)

    [problem] = [problem for problem in caught.value.problems if problem.got == "half a surrogate pair"]
    assert problem.path == path
    assert str(caught.value).encode()


def places(value, way=()):
    """Yield the way to each string of a job: names of fields, indexes and keys."""
    if isinstance(value, str):
        yield way
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*way, name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from places(item, (*way, index))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from places(getattr(value, field.name), (*way, field.name))


def put(value, way, text):
    """Return *value* with *text* at *way*."""
    if not way:
        return text
    step, *rest = way
    if isinstance(value, dict):
        return value | {step: put(value[step], rest, text)}
    if isinstance(value, tuple):
        return (*value[:step], put(value[step], rest, text), *value[step + 1 :])
    return dataclasses.replace(value, **{step: put(getattr(value, step), rest, text)})


def test_rule_and_rendering_agree_on_every_text_of_a_job():
    """Whatever the field: what the rule accepts is rendered, and what it refuses cannot be."""
    [job] = storage.plan_document(hostile_specs.SPEC).plugins[0].jobs
    ways = {tuple(step for step in way if isinstance(step, str)): way for way in places(job)}
    # Names that are chosen, not written; and the command of a process, which a container has not.
    skipped = {"secret_variables", "job_type", "role", "task_driver", "command"}
    differing = []
    for way in ways.values():
        if way[0] in skipped or way[-1] in {"attribute", "operator"}:
            continue
        for text in HOSTILE:
            given = put(job, way, f"x{text}")
            accepted = not any(
                problem for item in text_rules._texts(given) for problem in item.problems(item.value, "", shown=False)
            )
            try:
                documents.job_file(given)
            except errors.SpecError:
                rendered = False
            else:
                rendered = True
            if accepted != rendered:
                differing.append((way, text, accepted, rendered))

    assert len(ways) > 15
    assert differing == [], "\n".join(map(repr, differing))
