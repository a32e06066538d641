"""A report as JSON values."""

import dataclasses
from typing import Any

from nomad_csi.claims import claims_report
from nomad_csi.findings import printing
from nomad_csi.report import model
from nomad_csi.verification import report as verify_report


def of(report: model.ClusterReport) -> dict[str, Any]:
    """
    Return *report* as JSON values. Keys are kept once released.

    ``{"ok", "cluster", "spec", "totals", "zones", "evidence", "clients", "plugins", "volumes", "claims",
    "claims_unread", "findings", "not_checked", "smoke"}``. ``cluster`` has ``address``, ``region``, ``identity``,
    ``servers``, ``asked_at`` (UTC) and ``sandbox``. ``plugins`` are those of `nomad-csi verify --json` with
    ``is_expected``, of one that could not be judged ``plugin_id`` and ``status`` ``"not checked"`` alone; ``claims``
    are the volumes of `nomad-csi claims --json`. What is not known is an empty text.
    """
    claims = claims_report.ClaimsReport(volumes=report.claims, asked_ec2=report.asked_ec2).as_json()
    return {
        "ok": not report.errors and not report.unexpected,
        "cluster": dataclasses.asdict(report.cluster),
        "spec": report.spec,
        "totals": {
            "clients": len(report.clients),
            "plugins": len(report.plugins),
            "volumes": len(report.volumes),
            "claims": sum(volume.claims for volume in report.volumes),
            "errors": report.errors,
            "warnings": report.warnings,
        },
        "zones": [_zone(zone) for zone in report.zones],
        "evidence": [dataclasses.asdict(evidence) for evidence in report.evidence],
        "clients": [dataclasses.asdict(client) for client in report.clients],
        "plugins": [_plugin(plugin) for plugin in report.plugins],
        "volumes": [dataclasses.asdict(volume) for volume in report.volumes],
        "claims": claims["volumes"],
        "claims_unread": report.claims_unread,
        "findings": printing.as_json(report.findings, printing.REPORTED),
        "not_checked": [dataclasses.asdict(item) for item in report.unchecked],
        "smoke": [dataclasses.asdict(item) for item in report.smoke],
    }


def _zone(zone: model.Zone) -> dict[str, Any]:
    counts = {name: {"healthy": healthy, "expected": wanted} for name, (healthy, wanted) in zone.plugins.items()}
    return dataclasses.asdict(zone) | {"plugins": counts}


def _plugin(plugin: model.ReportedPlugin) -> dict[str, Any]:
    if plugin.status is None:
        return {"plugin_id": plugin.plugin_id, "status": "not checked", "is_expected": plugin.is_expected}
    return verify_report.plugin_as_json(plugin.status) | {"is_expected": plugin.is_expected}
