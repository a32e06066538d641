"""A row of the catalogue as labelled facts, as text and as JSON values. Pure."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from nomad_csi.drivers import arguments, model
from nomad_csi.spec import model as spec
from nomad_csi.text import table

TIERS = {
    "run": "the driver itself ran",
    "parsed": "only its files went through the real parser",
    "none": "not verified",
}
"""Meaning of the evidence tiers."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A label and its lines."""

    label: str
    """Empty where the heading is enough."""

    lines: tuple[str, ...]
    """One line, or a list."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Facts under a heading."""

    title: str
    facts: tuple[Fact, ...]


def sections(driver: model.Driver) -> tuple[Section, ...]:
    """Return the sections about *driver*: in general, by role, known issues, sources."""
    known_issues = [f"{issue.text} ({issue.source})" for issue in driver.known_issues]
    roles = (
        Section(title=f"{name}, as a {role.job_type} job", facts=_role(role)) for name, role in driver.roles.items()
    )
    return (
        Section(title="In general", facts=tuple(fact for fact in _general(driver) if fact.lines)),
        *roles,
        *_deletion(driver.deletion),
        Section(title="Known issues", facts=(_fact("", *known_issues),)),
    )


def unusable(driver: model.Unusable) -> tuple[Fact, ...]:
    """Return why *driver* cannot run on Nomad, and what to use instead."""
    return (
        _fact("reason", driver.reason),
        _fact("instead", driver.instead),
        _fact("source", f"{driver.source}, {driver.as_of}"),
    )


def tier(driver: model.Driver) -> str:
    """Return the evidence tier of *driver* if its roles have one: ``run``; else ``controller run, node parsed``."""
    tiers = {name: role.evidence.tier for name, role in driver.roles.items()}
    if len(set(tiers.values())) == 1:
        return next(iter(tiers.values()))
    return ", ".join(f"{name} {each}" for name, each in tiers.items())


def evidence_as_of(driver: model.Driver) -> str:
    """Return the day of the oldest evidence among the roles of *driver*; ``-`` where there is none."""
    return min((role.evidence.as_of for role in driver.roles.values() if role.evidence.as_of), default="-")


def example(driver: model.Driver) -> dict[str, list[dict[str, Any]]]:
    """Return a complete spec with a plugin and a volume of *driver*."""
    plugin = {"id": f"{driver.name}0", "driver": driver.name, **driver.example.plugin}
    volume = {"id": driver.example.volume["id"], "plugin_id": plugin["id"], **driver.example.volume}
    return {"plugins": [plugin], "volumes": [volume]}


def _general(driver: model.Driver) -> Iterator[Fact]:
    yield _fact("provider", driver.provider)
    yield _fact("image", driver.image)
    yield _fact("digest", driver.image_digest or "not known here: set image_digest to pin it")
    yield _fact("version", f"{driver.version}, compared with its sources on {driver.as_of}")
    yield _fact("arguments known", _known_versions(driver), driver.arguments_source)
    if driver.vendor_version is not None:
        yield _fact("answers as version", driver.vendor_version or "what its build wrote there; it is not compared")
    yield _fact("minimum Nomad", driver.minimum_nomad)
    yield _fact("health timeout", f"{driver.health_timeout_s} s")
    yield _fact("volumes", _sources(driver))
    yield _fact("credentials", *driver.credentials)
    yield _fact("access modes", *_modes(driver), driver.modes_advice)
    yield _fact("external id", driver.external_id.allowed, *map(_form, driver.external_id.forms))
    if driver.fs_types is not None:
        yield _fact("file systems", ", ".join(sorted(filter(None, driver.fs_types))))
    yield _fact("no mount flags", *_refused(driver.refused_mount_flags))
    for label in ("context", "parameters", "secrets"):
        yield _fact(f"{label} keys", *_keys(getattr(driver, label)))
    yield _fact("topology key", driver.topology_key or "none: volumes are not bound to a zone")
    yield _fact("nodes also report", *driver.topology_keys)
    yield _fact("limits", *driver.limits)
    if driver.log_levels:
        yield _fact("log levels", f"{', '.join(driver.log_levels)} ({driver.default_log_level} by default)")
    yield _fact("config", *_config(driver))
    yield _fact("sources", *driver.sources)


def _known_versions(driver: model.Driver) -> str:
    if not driver.arguments_since:
        return f"of {driver.version} only: an image of another version needs arguments_checked: false"
    return f"of {driver.arguments_since} to {driver.version}; another version needs arguments_checked: false"


def _deletion(known: model.DriverDeletion | None) -> Iterator[Section]:
    if known is None:
        return
    guard = "the storage itself refuses" if known.refuses_in_use else "not refused: accept_unguarded is wanted"
    parameters = [f"{name}={value}" for name, value in sorted(known.snapshot_parameters.items())]
    facts = (
        _fact("storage in use", guard),
        _fact("absence", known.absence_text),
        _fact("snapshot names", known.snapshot_name),
        _fact("snapshot parameters", *parameters),
        _fact("last snapshot", known.snapshot_text),
    )
    yield Section(title="Deletion by the controller", facts=tuple(fact for fact in facts if fact.lines))


def _sources(driver: model.Driver) -> str:
    made = [f"{driver.storage}: made by Pulumi"] if driver.storage else []
    registered = ["existing: registered"] if driver.registers else []
    created = ["create: made by the plugin"] if driver.creates else []
    return "; ".join([*made, *registered, *created])


def _modes(driver: model.Driver) -> Iterator[str]:
    yield f"{' '.join(driver.default_mode)} (default)"
    for mode in sorted(driver.modes - {driver.default_mode}):
        yield " ".join(mode)


def _keys(keys: spec.KeysSpec) -> Iterator[str]:
    if keys.allowed is None:
        yield "any"
    else:
        yield f"{', '.join(sorted(keys.allowed)) or 'none'}; no other"
    if keys.required:
        yield f"required: {', '.join(sorted(keys.required))}"
    for name, values in sorted(keys.values.items()):
        yield f"{name}: one of {', '.join(sorted(values))}"
    for name, by_value in sorted(keys.required_with.items()):
        for value, wanted in sorted(by_value.items()):
            either = (key.replace("|", " or ") for key in sorted(wanted))
            yield f"required where {name} is {value}: {', '.join(either)}"
    if keys.settings:
        yield f"may change under protect: {', '.join(sorted(keys.settings))}"
    yield from (f"{name}: {meaning}" for name, meaning in sorted(keys.meanings.items()))
    yield from _refused(keys.refused)


def _refused(fixes: Mapping[str, str]) -> Iterator[str]:
    """Yield each fix once, after the items that it applies to."""
    for fix in sorted(dict.fromkeys(fixes.values())):
        yield f"not {', '.join(sorted(name for name in fixes if fixes[name] == fix))}: {fix}"


def _form(form: spec.ExternalIdFormSpec) -> str:
    flag = f"; the plugin needs --{form.flag}" if form.flag else ""
    modes = "".join(f"; {item.access_mode} {item.attachment_mode} too" for item in form.capabilities)
    return f"{form.prefix}...: {form.text}{flag}{modes}"


def _config(driver: model.Driver) -> Iterator[str]:
    for name, setting in sorted(driver.settings.items()):
        default = "required" if setting.default is None else f"default {setting.default!r}"
        yield f"{name}: {setting.text} ({default})"
    if driver.config_file:
        yield from _config_file(driver.config_file)


def _config_file(file: spec.ConfigFileSpec) -> Iterator[str]:
    needs = ", ".join(file.required) or "nothing"
    yield f"becomes {file.name} in the task's secrets directory; required at its top: {needs}"
    for key, values in sorted(file.values.items()):
        yield f"{key}: one of {', '.join(sorted(values))}"
    for key, reasons in sorted(file.not_in_containers.items()):
        for reason in dict.fromkeys(reasons.values()):
            named = ", ".join(sorted(value for value in reasons if reasons[value] == reason))
            yield f"{key} not {named} in a container: {reason}"


def _role(role: model.DriverRole) -> tuple[Fact, ...]:
    evidence = role.evidence
    with_what = f", with {', '.join(evidence.versions)}" if evidence.versions else ""
    when = f" on {evidence.as_of}" if evidence.as_of else ""
    least = f"; at least {role.count_minimum}" if role.count_minimum > 1 else ""
    most = f"; at most {role.count_limit}" if role.count_limit else ""
    advice = f": {role.count_advice}" if role.count_advice else ""
    where = "" if role.job_type == "service" else "as a service job: "
    found = (
        _fact("arguments", " ".join(role.arguments)),
        _fact("on request", *(f"{name}: {text}" for name, text in sorted(role.optional_arguments.items()))),
        _fact("environment", *(f"{name}={value}" for name, value in sorted(role.environment.items()))),
        _fact("from credentials", *_secrets(role)),
        _fact("instances", f"{where}{role.default_count}{least}{most}{advice}" if advice or not where else ""),
        _fact("privileges", "privileged: it mounts for the whole client" if role.privileged else "none"),
        _fact("network", role.network_mode or "Docker's default"),
        _fact("IPC", role.ipc_mode),
        _fact("folders of the client", *role.binds),
        _fact("needs", *role.needs, *role.bridge_needs),
        _fact("Probe verifies", role.probe_verifies),
        _fact("evidence", f"{evidence.tier}: {TIERS[evidence.tier]}{when}{with_what}"),
        _fact("verified", *evidence.verified),
        _fact("not verified", *evidence.not_verified),
        _fact("more flags", *_more(role)),
        _fact("unfit flags", *_unfit(role.unfit_flags)),
    )
    return tuple(fact for fact in found if fact.lines)


def _secrets(role: model.DriverRole) -> Iterator[str]:
    for name, item in sorted(role.secret_environment.items()):
        yield f"environment {name}: item {item}"
    for name, item in sorted(role.secret_files.items()):
        yield f"file {name}: item {item}"
    for name, text in sorted(role.credentials_environment.items()):
        yield f"environment {name}: {text}"


def _more(role: model.DriverRole) -> Iterator[str]:
    if role.flags is None:
        yield "not known here: any flag is passed on"
    elif more := role.flags - arguments.flags(role.arguments):
        yield _flags(more)


def _unfit(reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield each reason once, after its flags."""
    for why in dict.fromkeys(reasons.values()):
        yield f"{_flags(name for name in reasons if reasons[name] == why)}: {why}"


def _flags(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in sorted(names))


def _fact(label: str, *lines: str) -> Fact:
    """Return the fact without empty lines."""
    return Fact(label=label, lines=tuple(filter(None, lines)))


# The catalogue as text and as JSON values.


WIDTH = 100
"""Columns of the text."""

_LABEL_WIDTH = 23


def rows(drivers: Iterable[model.Driver], unusable: Iterable[model.Unusable] = ()) -> tuple[tuple[str, ...], ...]:
    """
    Return a heading, and one row for each driver: name, title, version, roles, evidence tier, day of the evidence.

    Rows for the *unusable* drivers follow.
    """
    found = (
        (item.name, item.title, item.version, ", ".join(item.roles), tier(item), evidence_as_of(item))
        for item in drivers
    )
    others = ((item.name, item.title, "-", "-", "cannot run on Nomad", item.as_of) for item in unusable)
    return (("driver", "title", "version", "roles", "evidence", "as of"), *found, *others)


def as_text(driver: model.Driver | model.Unusable) -> str:
    """Return the full description of *driver* for a terminal, ending in a newline."""
    if isinstance(driver, model.Unusable):
        head = f"{driver.name}: {driver.title} cannot run on Nomad"
        return "\n".join([head, "", *(line for fact in unusable(driver) for line in _labelled(fact))]) + "\n"
    head = f"{driver.name}: the {driver.title} CSI driver"
    sample = yaml.safe_dump(example(driver), sort_keys=False, width=WIDTH)
    replaced = Fact(label="replace", lines=(driver.example.replace,))
    spec = "\n".join(["In a spec", textwrap.indent(sample, "  "), *_labelled(replaced)])
    return "\n\n".join([head, *map(_text_of, sections(driver)), spec]) + "\n"


def as_json(driver: model.Driver | model.Unusable) -> dict[str, Any]:
    """Return *driver* as values for `json.dumps`: its fields, sets as sorted lists."""
    return {name: _plain(value) for name, value in driver.model_dump().items()}


def _text_of(section: Section) -> str:
    return "\n".join([section.title, *(line for fact in section.facts for line in _labelled(fact))])


def _labelled(fact: Fact) -> Iterator[str]:
    """Yield the lines of *fact* in two columns; in one column without a label."""
    head = f"  {fact.label:<{_LABEL_WIDTH}}" if fact.label else "  "
    mark = "- " if len(fact.lines) > 1 or not fact.label else ""
    for line in fact.lines:
        yield from table.wrapped(head + mark, line, WIDTH) if line else ()
        head = " " * len(head)


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value
