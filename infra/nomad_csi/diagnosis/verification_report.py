"""The result of a verification, as data and as a table."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import plugins
from nomad_csi.findings import Finding, causes, errors_of, printing, registry
from nomad_csi.health import instances, observed_plugin
from nomad_csi.health import plugins as health_plugins
from nomad_csi.plan import registration
from nomad_csi.plan import volumes as planned
from nomad_csi.text import foreign, listing, table
from nomad_csi.volumes import compare

Status = Literal["ok", "missing", "differs", "unschedulable"]

_DIFFERENCES = frozenset(registry.code_of_field().values())
_UNUSABLE = frozenset({"volume-unschedulable", "volume-out-of-reach", "topology-key-unknown"})


@dataclass(frozen=True, kw_only=True)
class VolumeStatus(registration.NamedVolume):
    """Whether one volume is registered as specified, and can be used."""

    plugin_id: str
    external_id: str
    """The registered one, or the planned one of an unregistered volume; empty: neither is known."""

    findings: tuple[Finding, ...]
    capacity_bytes: int = 0
    """Its capacity in Nomad, which has it of volumes that a plugin created; 0: not known."""

    detail: str = ""
    """What was not compared; empty: all that can be compared was."""

    @property
    def status(self) -> Status:
        """Its status by its registration, and by Nomad's scheduler."""
        codes = {finding.code for finding in self.findings}
        if "volume-missing" in codes:
            return "missing"
        if not codes.isdisjoint(_DIFFERENCES):
            return "differs"
        return "ok" if codes.isdisjoint(_UNUSABLE) else "unschedulable"

    @property
    def evidence(self) -> Literal["nomad", "-"]:
        """Source of the status: Nomad, if it is registered; ``-``: none, it is missing. CSI lists no registrations."""
        return "-" if self.status == "missing" else "nomad"


def volume_statuses(cluster: facts.Facts, outcomes: Iterable[Finding]) -> tuple[VolumeStatus, ...]:
    """Return the status of each volume of the plan by the findings on it."""
    about: dict[str, list[Finding]] = defaultdict(list)
    for item in outcomes:
        about[item.subject].append(item)
    statuses = []
    for volume in cluster.planned_volumes:
        desired = planned.desired_document(volume, cluster.external_ids)
        actual = facts.value(cluster.registered)[volume.key]
        is_hidden = actual is not None and not desired.external_id and not volume.made_by_plugin
        status = VolumeStatus(
            namespace=desired.namespace,
            volume_id=desired.volume_id,
            plugin_id=(actual or desired).plugin_id,
            external_id=(actual or desired).external_id,
            findings=tuple(about[f"volume {volume.key}"]),
            capacity_bytes=actual.capacity_bytes if actual else 0,
            detail=compare.ID_NOT_COMPARED if is_hidden else "",
        )
        statuses.append(status)
    return tuple(statuses)


@dataclass(frozen=True, kw_only=True)
class VerificationReport:
    """Health statuses and findings of all plugins and volumes of a plan."""

    plugins: tuple[health_plugins.PluginStatus, ...]
    volumes: tuple[VolumeStatus, ...]
    findings: tuple[Finding, ...] = ()
    """All findings: of plugins, of volumes, then the others; each that another one explains has that as cause."""

    unchecked: tuple[facts.Unchecked, ...] = ()
    """What could not be checked: it does not count as passed."""

    @property
    def ok(self) -> bool:
        """Whether everything is as specified, and all of it could be checked; warnings do not count."""
        return self.is_complete and not errors_of(self.findings)

    @property
    def is_complete(self) -> bool:
        """Whether everything could be checked that was to be."""
        return all(item.is_expected for item in self.unchecked)

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys are kept once released.

        ``{"ok": bool, "plugins": [...], "volumes": [...], "findings": [...], "not_checked": [...]}``. A plugin has
        ``plugin_id``, ``status``, ``ok``, ``policy``, ``evidence``, ``provider``, ``version``, ``controllers`` and
        ``nodes`` (each ``{"healthy": int, "expected": int}``), ``causes`` (each ``kind``, ``where``, ``text``) and
        ``instances`` (each ``role``, ``node_id``, ``node_name``, ``zone``, ``alloc_id``, ``status``, ``evidence``,
        ``extra``, ``detail``, ``nomad``, ``socket``, ``socket_detail``). A volume has ``namespace``, ``volume_id``,
        ``plugin_id``, ``external_id``, ``capacity_bytes`` (0: not known), ``status``, ``evidence``, ``detail``. A
        finding has ``code``, ``subject``, ``severity``, ``expected``, ``found``, ``advice`` and ``cause``. Unknown
        values are empty strings.
        """
        return {
            "ok": self.ok,
            "plugins": [plugin_as_json(status) for status in self.plugins],
            "volumes": [_volume_json(status) for status in self.volumes],
            "findings": printing.as_json(self.findings),
            "not_checked": [asdict(item) for item in self.unchecked],
        }

    def as_table(self, width: int = 100, *, colour: bool = False) -> str:
        """Return the report as aligned text of at most *width* columns if possible, ending in a newline."""
        tables = (self._plugins(), self._instances(), self._volumes())
        parts = [part for part in tables if part]
        texts = [table.columns(part, width, colour=colour) for part in parts]
        if self.findings:
            texts.append(printing.as_text(self.findings, width, colour=colour))
        explained = [line for status in self.plugins for line in _cause_lines(status, width)]
        if explained:
            texts.append("\n".join(explained))
        if self.unchecked:
            texts.append("\n".join(line for item in self.unchecked for line in item.lines(width)))
        return "\n\n".join([*texts, self._total()]) + "\n" if texts else "nothing to verify\n"

    def _total(self) -> str:
        plugins, volumes = listing.counted(len(self.plugins), "plugin"), listing.counted(len(self.volumes), "volume")
        return f"{plugins} and {volumes} checked: {printing.totals(self.findings)}"

    def _plugins(self) -> list[table.Row]:
        rows = [_plugin_row(status) for status in self.plugins]
        return [("plugin", "status", "controllers", "nodes", "checked by", "answers as"), *rows] if rows else []

    def _instances(self) -> list[table.Row]:
        all_rows = [row for status in self.plugins for row in status.instances]
        were_asked = any(row.socket != "-" for row in all_rows)
        rows = [_instance_row(row, with_socket=were_asked) for row in all_rows]
        both = ("nomad", "socket") if were_asked else ()
        heads = ("instance of", "role", "client", "zone", "status", *both, "checked by", "detail")
        return [heads, *rows] if rows else []

    def _volumes(self) -> list[table.Row]:
        rows = [_volume_row(status) for status in self.volumes]
        heads = ("volume", "status", "plugin", "external id", "size", "checked by", "detail")
        return table.without_empty([heads, *rows]) if rows else []


def of(cluster: facts.Facts, outcomes: Iterable[facts.Outcome]) -> VerificationReport:
    """Return the report on the plan of *cluster*, by the *outcomes* of the rules."""
    findings = [item for item in outcomes if isinstance(item, Finding)]
    statuses = volume_statuses(cluster, findings)
    of_plugins = [item for item in findings if item.code in (*plugins.OF_HEALTH, *plugins.ABSENT)]
    of_volumes = [item for status in statuses for item in status.findings]
    return VerificationReport(
        plugins=facts.value(cluster.statuses),
        volumes=statuses,
        findings=causes.assign(dict.fromkeys((*of_plugins, *of_volumes, *findings))),
        unchecked=tuple(item for item in outcomes if isinstance(item, facts.Unchecked)),
    )


def _plugin_row(status: health_plugins.PluginStatus) -> table.Row:
    controllers = f"{status.healthy_controllers}/{status.expected_controllers}"
    return (
        status.plugin_id,
        status.status,
        controllers if status.expected_controllers or status.healthy_controllers else "-",
        f"{status.healthy_nodes}/{status.expected_nodes}",
        status.evidence,
        foreign.clean(f"{status.provider} {status.version}".strip()) or "-",
    )


def _instance_row(row: instances.InstanceRow, *, with_socket: bool) -> table.Row:
    status = f"{row.status}, extra" if row.is_extra else row.status
    both = (row.nomad, row.socket) if with_socket else ()
    detail = row.detail or (foreign.clean(row.csi.detail) if row.socket == observed_plugin.NO_ANSWER else "")
    return (row.plugin_id, row.role, row.node_name, row.zone or "-", status, *both, row.evidence, detail)


def _volume_row(status: VolumeStatus) -> table.Row:
    external_id = status.external_id or "not known yet"
    size = listing.size(status.capacity_bytes) if status.capacity_bytes else ""
    return (status.key, status.status, status.plugin_id, external_id, size, status.evidence, status.detail)


def _cause_lines(status: health_plugins.PluginStatus, width: int) -> Iterator[str]:
    """Yield the causes of a status, below a line that names it."""
    if status.causes:
        yield f"what explains plugin {status.plugin_id}"
    for cause in status.causes:
        yield from table.wrapped(f"  {cause.kind:<11}  ", f"{cause.where} {cause.text}", width)


def plugin_as_json(status: health_plugins.PluginStatus) -> dict[str, Any]:
    """Return *status* as `VerificationReport.as_json` has it."""
    return {
        "plugin_id": status.plugin_id,
        "status": status.status,
        "ok": status.ok,
        "policy": status.policy,
        "evidence": status.evidence,
        "provider": status.provider,
        "version": status.version,
        "controllers": {"healthy": status.healthy_controllers, "expected": status.expected_controllers},
        "nodes": {"healthy": status.healthy_nodes, "expected": status.expected_nodes},
        "causes": [asdict(cause) for cause in status.causes],
        "instances": [_instance_json(row) for row in status.instances],
    }


def _instance_json(row: instances.InstanceRow) -> dict[str, Any]:
    names = ("role", "node_id", "node_name", "zone", "alloc_id", "status", "evidence", "detail", "nomad", "socket")
    socket_detail = foreign.clean(row.csi.detail) if row.csi.status else ""
    return {name: getattr(row, name) for name in names} | {"extra": row.is_extra, "socket_detail": socket_detail}


def _volume_json(status: VolumeStatus) -> dict[str, Any]:
    names = ("namespace", "volume_id", "plugin_id", "external_id", "status", "evidence", "detail")
    return {name: getattr(status, name) for name in names} | {"capacity_bytes": status.capacity_bytes}
