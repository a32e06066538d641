"""
Metrics of a verification run in Prometheus' text format.

Labels name plugins and volumes, never clients: the number of series does not grow with them.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4) and
https://prometheus.io/docs/practices/naming/, 2026-11-21.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from nomad_csi import findings
from nomad_csi.diagnosis import verification_report
from nomad_csi.health import plugins

LAST_ANSWER = "nomad_csi_verify_last_answer_timestamp_seconds"
"""A new file takes over the earlier value, so that it survives runs without a response of Nomad."""

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_LAST_ANSWER = re.compile(rf"^{LAST_ANSWER} ([0-9]+(?:\.[0-9]+)?)$", re.MULTILINE)

METRICS_FILE_ENDING = ".prom"

FILE_MODE = 0o644
"""Permissions of the file: the node exporter, which reads it, is another user."""

_HELP = {
    "nomad_csi_verify_answered": "Whether Nomad answered the last round.",
    LAST_ANSWER: "End of the last round that Nomad answered, whatever it said; 0: never.",
    "nomad_csi_verify_duration_seconds": "How long the last round took.",
    "nomad_csi_verify_ok": "Whether everything is as specified; warnings do not count.",
    "nomad_csi_plugin_ok": "Whether a plugin is as its plan and policy want it.",
    "nomad_csi_plugin_status": "The status of a plugin: 1 for the one that holds.",
    "nomad_csi_plugin_instances_healthy": "Healthy instances of a plugin among those that must be there.",
    "nomad_csi_plugin_instances_expected": "Instances of a plugin that must be there.",
    "nomad_csi_plugin_instances": "Instances of a plugin, found or missing, by status.",
    "nomad_csi_plugin_sockets": "Instances of a plugin by what their sockets answered: no-answer where the client gave "
    "none.",
    "nomad_csi_volume_ok": "Whether a volume is registered as specified and can be used.",
    "nomad_csi_volume_claimed_without_controller": "Whether a volume is claimed while none of its plugin's controllers "
    "is healthy: nothing can detach it.",
    "nomad_csi_findings": "Findings of the last round, by severity and code.",
}
"""The metrics, all gauges, in their order."""

Sample = tuple[str, Mapping[str, str], float]
"""A metric, labels, and the value."""


def text(report: verification_report.VerificationReport | None, *, seconds: float, last_answer_s: float) -> str:
    """
    Return all metrics of a run.

    Args:
        report: its report; ``None`` if Nomad did not respond: then there are no metrics on plugins and volumes.
        seconds: how long it took.
        last_answer_s: end of the last run with a response of Nomad, this or an earlier one, in seconds since 1970; 0:
            none did.

    """
    samples: list[Sample] = [
        ("nomad_csi_verify_answered", {}, report is not None),
        (LAST_ANSWER, {}, last_answer_s),
        ("nomad_csi_verify_duration_seconds", {}, seconds),
        *(_samples(report) if report is not None else ()),
    ]
    lines = []
    for name, description in _HELP.items():
        own = [_line(*sample) for sample in samples if sample[0] == name]
        lines += [f"# HELP {name} {description}\n", f"# TYPE {name} gauge\n", *own] if own else []
    return "".join(lines)


def last_answer_s(earlier: str) -> float:
    """Return the value of `LAST_ANSWER` in the *earlier* text of a run; 0: absent."""
    match = _LAST_ANSWER.search(earlier)
    return float(match[1]) if match else 0.0


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    pairs = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
    number = str(int(value)) if float(value).is_integer() else f"{value:.3f}"
    return f"{name}{f'{{{pairs}}}' if pairs else ''} {number}\n"


def _samples(report: verification_report.VerificationReport) -> Iterator[Sample]:
    yield "nomad_csi_verify_ok", {}, report.ok
    for status in report.plugins:
        yield from _of_plugin(status, {"plugin_id": status.plugin_id})
    for item in report.volumes:
        volume = {"namespace": item.namespace, "volume_id": item.volume_id, "plugin_id": item.plugin_id}
        codes = {finding.code for finding in item.findings}
        yield "nomad_csi_volume_ok", volume, not findings.errors_of(item.findings)
        yield "nomad_csi_volume_claimed_without_controller", volume, "claim-without-controller" in codes
    counted = Counter((item.severity, item.code) for item in report.findings)
    for (severity, code), count in sorted(counted.items()):
        yield "nomad_csi_findings", {"severity": severity, "code": code}, count


def _of_plugin(item: plugins.PluginStatus, plugin: dict[str, str]) -> Iterator[Sample]:
    yield "nomad_csi_plugin_ok", plugin, item.ok
    yield "nomad_csi_plugin_status", plugin | {"status": item.status}, 1
    for role, healthy, expected in (
        ("controller", item.healthy_controllers, item.expected_controllers),
        ("node", item.healthy_nodes, item.expected_nodes),
    ):
        yield "nomad_csi_plugin_instances_healthy", plugin | {"role": role}, healthy
        yield "nomad_csi_plugin_instances_expected", plugin | {"role": role}, expected
    for (role, state), count in sorted(Counter((row.role, row.status) for row in item.instances).items()):
        yield "nomad_csi_plugin_instances", plugin | {"role": role, "status": state}, count
    answers = Counter((row.role, row.socket) for row in item.instances if row.csi.status)
    for (role, answer), count in sorted(answers.items()):
        yield "nomad_csi_plugin_sockets", plugin | {"role": role, "answer": answer}, count
