"""Compare the versions of servers and clients with those that storage needs. Pure."""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.drivers import catalogue
from nomad_csi.findings import finding
from nomad_csi.findings.registry import Feature, Side
from nomad_csi.nomad import plugins, version_gates
from nomad_csi.plan import versions
from nomad_csi.volumes import secret_safety

_GATES = tuple(fault.code for fault, _ in version_gates.gates())


@rule(*_GATES, "nomad-may-erase-secrets")
def find_faults(cluster: facts.Facts) -> Iterator[facts.Outcome]:
    """Yield the faults of the versions."""
    on_servers, on_clients = yield from _versions(cluster)
    features = used(cluster)
    yield from _gates("servers", on_servers, features, knows_secrets=cluster.plan is not None)
    yield from _gates("clients", on_clients, features, knows_secrets=cluster.plan is not None)


@rule("nomad-unsupported", "nomad-too-old-for-driver")
def find_too_old(cluster: facts.Facts) -> Iterator[facts.Outcome]:
    """Yield versions that are older than the oldest tested one, and plugins whose drivers need newer ones."""
    on_servers, on_clients = yield from _versions(cluster)
    oldest = version_gates.releases().oldest
    if old := _older(on_servers, on_clients, oldest):
        evidence = f"/v1/agent/members and /v1/nodes: {'; '.join(old)}; the oldest tested Nomad is {oldest}"
        yield finding("nomad-unsupported", "cluster", found=evidence, advice=f"upgrade Nomad to {oldest} or later")
    for plugin_id, (name, least) in sorted(wanted(cluster).items()):
        if old := _older(on_servers, on_clients, least):
            evidence = f"{name} needs Nomad {least}; /v1/agent/members and /v1/nodes: {'; '.join(old)}"
            fix = f"upgrade Nomad to {least} or later"
            yield finding("nomad-too-old-for-driver", f"plugin {plugin_id}", found=evidence, advice=fix)


_ByVersion = dict[str, list[str]]


def _versions(cluster: facts.Facts) -> Generator[facts.Unchecked, None, tuple[_ByVersion, _ByVersion]]:
    """Return the names of servers and of clients by their version."""
    servers = yield from facts.known(cluster.servers, "versions of the servers against the version gates")
    clients = yield from facts.known(cluster.clients, "versions of the clients against the version gates")
    return (
        _group_by_version((item.version, item.name) for item in servers or () if item.status != "left"),
        _group_by_version((item.version, item.name) for item in clients or () if item.status != "down"),
    )


def used(cluster: facts.Facts) -> frozenset[Feature]:
    """Return the features of Nomad in use: by existing plugins and volumes, and by the spec."""
    features: set[Feature] = set()
    planned = cluster.planned_volumes
    if any(_may_have_more_segments(volume, cluster.plugins) for volume in facts.known_or(cluster.volumes, ())):
        features.add("topologies")
    if cluster.plan is None or any(item.registration.secrets for item in planned):
        features.add("secrets")
    if any(item.made_by_plugin for item in planned):
        features.add("create")
    return frozenset(features)


def _may_have_more_segments(volume: facts.ExaminedVolume, known: Mapping[str, plugins.Plugin] | facts.Unknown) -> bool:
    """Return whether clients may report more segments than the volume names: some do, or none is known yet."""
    plugin = None if isinstance(known, facts.Unknown) else known.get(volume.plugin_id)
    served = [instance.segments for instance in plugin.nodes] if plugin else []
    if not served:
        return bool(volume.segments)
    return any(named.items() < segments.items() for named in volume.segments for segments in served)


def _group_by_version(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = defaultdict(list)
    for version, name in pairs:
        names[version].append(name)
    return dict(names)


def _gates(
    side: Side, by_version: Mapping[str, list[str]], features: frozenset[Feature], *, knows_secrets: bool
) -> Iterator[facts.Outcome]:
    for version in sorted(by_version):
        if versions.parse(version) is None:
            reason = f"Nomad reports {version!r} as the version of {facts.named(by_version[version])}"
            yield facts.Unchecked(check=f"version gates of {side}", reason=reason)
    met: dict[str, list[str]] = defaultdict(list)
    for version, names in sorted(by_version.items()):
        for fault in version_gates.met(side, version, features):
            met[fault.code].append(f"Nomad {version} on {facts.named(names)}")
    for code, affected in met.items():
        is_guess = code == secret_safety.ERASES_SECRETS and not knows_secrets
        hidden = "; Nomad does not show which volumes have secrets" if is_guess else ""
        where = "/v1/agent/members" if side == "servers" else "/v1/nodes"
        evidence = f"{where}: {'; '.join(affected)}{hidden}"
        yield finding("nomad-may-erase-secrets" if is_guess else code, side, found=evidence)


def _older(on_servers: Mapping[str, list[str]], on_clients: Mapping[str, list[str]], least: str) -> list[str]:
    return [
        f"{side} {facts.named(names)} with {version}"
        for side, by_version in (("servers", on_servers), ("clients", on_clients))
        for version, names in sorted(by_version.items())
        if version_gates.is_older(version, least)
    ]


def wanted(cluster: facts.Facts) -> dict[str, tuple[str, str]]:
    """Return driver and oldest version of Nomad for each plugin of the spec, and for running ones of the catalogue."""
    by_provider = {driver.provider: driver for driver in catalogue.DRIVERS.values()}
    running = {
        plugin_id: (driver.called, driver.minimum_nomad)
        for plugin_id, plugin in facts.known_or(cluster.plugins, {}).items()
        if (driver := by_provider.get(plugin.provider))
    }
    planned = {
        item.plugin_id: (item.driver, item.minimum_nomad) for item in cluster.planned_plugins if item.minimum_nomad
    }
    return running | planned
