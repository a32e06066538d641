"""A row of the catalogue as facts with labels: what the command shows and the documentation has. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nomad_csi.drivers import model

TIERS = {
    "run": "the driver itself ran",
    "parsed": "only its files went through the real parser",
    "none": "not proven",
}
"""What the proof tiers mean."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What stands behind a label."""

    label: str
    """Empty where the heading says it."""

    lines: tuple[str, ...]
    """One line, or a list."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Facts under a heading."""

    title: str
    facts: tuple[Fact, ...]


def sections(driver: model.Driver) -> tuple[Section, ...]:
    """Return all that is known of *driver*: in general, by role, its traps, its sources."""
    traps = tuple(f"{trap.text} ({trap.source})" for trap in driver.traps)
    roles = (
        Section(title=f"{name}, as a {role.job_type} job", facts=_role(role)) for name, role in driver.roles.items()
    )
    return (
        Section(title="In general", facts=tuple(_general(driver))),
        *roles,
        Section(title="Traps", facts=(Fact(label="", lines=traps),)),
    )


def tier(driver: model.Driver) -> str:
    """Return the proof tier of *driver* if its roles have one: ``run``; else ``controller run, node parsed``."""
    tiers = {name: role.proof.tier for name, role in driver.roles.items()}
    if len(set(tiers.values())) == 1:
        return next(iter(tiers.values()))
    return ", ".join(f"{name} {each}" for name, each in tiers.items())


def proof_as_of(driver: model.Driver) -> str:
    """Return the day of the oldest proof among the roles of *driver*; ``-`` where there is none."""
    return min((role.proof.as_of for role in driver.roles.values() if role.proof.as_of), default="-")


def _general(driver: model.Driver) -> Iterator[Fact]:
    yield _fact("provider", driver.provider)
    yield _fact("image", driver.image)
    yield _fact("version", f"{driver.version}, compared with its sources on {driver.as_of}")
    yield _fact("minimum Nomad", driver.minimum_nomad)
    yield _fact("health timeout", f"{driver.health_timeout_s} s")
    yield Fact(label="access modes", lines=(*_modes(driver), driver.modes_advice))
    often = "several volumes may name the same" if driver.external_id.shared else "one volume for each"
    yield _fact("external id", f"{driver.external_id.allowed}; {often}")
    yield _fact("file systems", ", ".join(sorted(filter(None, driver.fs_types))))
    yield Fact(label="context keys", lines=tuple(_keys(driver.context)))
    yield _fact("topology key", driver.topology_key or "none: volumes are not bound to a zone")
    yield Fact(label="sources", lines=driver.sources)


def _modes(driver: model.Driver) -> Iterator[str]:
    yield f"{' '.join(driver.default_mode)} (default)"
    for mode in sorted(driver.modes - {driver.default_mode}):
        yield " ".join(mode)


def _keys(keys: model.Keys) -> Iterator[str]:
    yield "any" if keys.allowed is None else f"{', '.join(sorted(keys.allowed))}; no other"
    for name, fix in sorted(keys.refused.items()):
        yield f"not {name}: {fix}"


def _role(role: model.Role) -> tuple[Fact, ...]:
    proof = role.proof
    with_what = f", with {', '.join(proof.versions)}" if proof.versions else ""
    when = f" on {proof.as_of}" if proof.as_of else ""
    found = (
        _fact("arguments", " ".join(role.arguments)),
        Fact(label="environment", lines=tuple(f"{name}={value}" for name, value in sorted(role.environment.items()))),
        _fact("privileges", "privileged: it mounts for the whole client" if role.privileged else "none"),
        _fact("network", role.network_mode or "Docker's default"),
        Fact(label="folders of the client", lines=role.host_folders),
        Fact(label="needs", lines=role.needs),
        _fact("Probe proves", role.probe_proves),
        _fact("proof", f"{proof.tier}: {TIERS[proof.tier]}{when}{with_what}"),
        Fact(label="proven", lines=proof.proven),
        Fact(label="not proven", lines=proof.not_proven),
        _fact("more flags", _flags(role.flags - _rendered(role))),
        Fact(label="unfit flags", lines=tuple(_unfit(role.unfit_flags))),
    )
    return tuple(fact for fact in found if fact.lines)


def _unfit(reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield each reason once, behind its flags."""
    for why in dict.fromkeys(reasons.values()):
        yield f"{_flags(name for name in reasons if reasons[name] == why)}: {why}"


def _flags(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in sorted(names))


def _rendered(role: model.Role) -> set[str]:
    return {argument.lstrip("-").split("=", 1)[0] for argument in role.arguments}


def _fact(label: str, line: str) -> Fact:
    return Fact(label=label, lines=(line,))
