"""What was asked for a report, before it is put together."""

from collections.abc import Mapping
from dataclasses import dataclass

from nomad_csi.claims import claim_model
from nomad_csi.doctor import model as doctor_model
from nomad_csi.doctor import report as doctor_report
from nomad_csi.health import plugins
from nomad_csi.report import model
from nomad_csi.report.smoke_results import SmokeResult
from nomad_csi.verification import report


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Each as the command tells it that asks for it."""

    cluster: model.Cluster
    spec: str
    found: doctor_model.ObservedCluster
    """What the doctor read: clients, plugins, volumes."""

    doctor: doctor_report.DoctorReport
    verified: report.VerificationReport | None
    """Of the spec; ``None``: there is none, or it could not be compared."""

    running: Mapping[str, plugins.PluginStatus]
    """Status of plugins that are in no spec, against what their own jobs ask for, by id."""

    claims: tuple[claim_model.VolumeClaims, ...]
    claims_unread: int
    asked_ec2: bool
    unchecked: tuple[doctor_model.Unchecked, ...]
    """Beside what the doctor could not check."""

    smoke: tuple[SmokeResult, ...]
