"""
Metrics of a verification run in Prometheus' text format. Pure.

Labels name plugins and volumes, never clients: the number of series does not grow with them.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4) and
https://prometheus.io/docs/practices/naming/, 2026-11-21.
"""

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nomad_csi import findings
from nomad_csi.diagnosis import verification_report
from nomad_csi.health import plugins

LAST_ANSWER = "nomad_csi_verify_last_answer_timestamp_seconds"
"""A new file takes over the earlier value, so that it survives runs without a response of Nomad."""

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_LAST_ANSWER = re.compile(rf"^{LAST_ANSWER} ([0-9]+(?:\.[0-9]+)?)$", re.MULTILINE)

Labels = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class MetricFamily:
    """One metric, a gauge, with its samples."""

    name: str
    help: str
    samples: list[tuple[Labels, float]] = field(default_factory=list)


def text(found: verification_report.VerificationReport | None, *, seconds: float, last_answer_s: float) -> str:
    """
    Return all metrics of a run.

    Args:
        found: its report; ``None`` if Nomad did not respond: then there are no metrics on plugins and volumes.
        seconds: how long it took.
        last_answer_s: end of the last run with a response of Nomad, this or an earlier one, in seconds since 1970; 0:
            none did.

    """
    families = (*_run_metrics(found, seconds, last_answer_s), *(_report_metrics(found) if found is not None else ()))
    return "".join(line for family in families if family.samples for line in _lines(family))


def last_answer_s(earlier: str) -> float:
    """Return the value of `LAST_ANSWER` in the *earlier* text of a run; 0: absent."""
    match = _LAST_ANSWER.search(earlier)
    return float(match[1]) if match else 0.0


def _lines(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n"
    yield f"# TYPE {family.name} gauge\n"
    for labels, value in family.samples:
        pairs = ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items())
        yield f"{family.name}{f'{{{pairs}}}' if pairs else ''} {_number(value)}\n"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.3f}"


def _run_metrics(
    found: verification_report.VerificationReport | None, seconds: float, last_answer_s: float
) -> Iterator[MetricFamily]:
    yield _one("nomad_csi_verify_answered", "Whether Nomad answered the last round.", found is not None)
    yield _one(LAST_ANSWER, "End of the last round that Nomad answered, whatever it said; 0: never.", last_answer_s)
    yield _one("nomad_csi_verify_duration_seconds", "How long the last round took.", seconds)
    if found is not None:
        yield _one("nomad_csi_verify_ok", "Whether everything is as specified; warnings do not count.", found.ok)


def _one(name: str, description: str, value: float) -> MetricFamily:
    return MetricFamily(name=name, help=description, samples=[({}, value)])


def _report_metrics(found: verification_report.VerificationReport) -> Iterator[MetricFamily]:
    yield from _plugin_metrics(found.plugins)
    yield from _volume_metrics(found.volumes)
    yield MetricFamily(
        name="nomad_csi_findings",
        help="Findings of the last round, by severity and code.",
        samples=[
            ({"severity": severity, "code": code}, count)
            for (severity, code), count in sorted(
                Counter((item.severity, item.code) for item in found.findings).items()
            )
        ],
    )


def _plugin_metrics(found: Iterable[plugins.PluginStatus]) -> Iterator[MetricFamily]:
    is_ok = MetricFamily(name="nomad_csi_plugin_ok", help="Whether a plugin is as its plan and policy want it.")
    status = MetricFamily(name="nomad_csi_plugin_status", help="The status of a plugin: 1 for the one that holds.")
    healthy = MetricFamily(
        name="nomad_csi_plugin_instances_healthy", help="Healthy instances of a plugin among those that must be there."
    )
    expected = MetricFamily(
        name="nomad_csi_plugin_instances_expected", help="Instances of a plugin that must be there."
    )
    by_status = MetricFamily(
        name="nomad_csi_plugin_instances", help="Instances of a plugin, found or missing, by status."
    )
    sockets = MetricFamily(
        name="nomad_csi_plugin_sockets",
        help="Instances of a plugin by what their sockets answered: no-answer where the client gave none.",
    )
    for item in found:
        plugin = {"plugin_id": item.plugin_id}
        is_ok.samples.append((plugin, item.ok))
        status.samples.append((plugin | {"status": item.status}, 1))
        for role, there, wanted in (
            ("controller", item.healthy_controllers, item.expected_controllers),
            ("node", item.healthy_nodes, item.expected_nodes),
        ):
            healthy.samples.append((plugin | {"role": role}, there))
            expected.samples.append((plugin | {"role": role}, wanted))
        rows = Counter((row.role, row.status) for row in item.instances)
        for (role, state), count in sorted(rows.items()):
            by_status.samples.append((plugin | {"role": role, "status": state}, count))
        words = Counter((row.role, row.socket) for row in item.instances if row.csi.status)
        for (role, answer), count in sorted(words.items()):
            sockets.samples.append((plugin | {"role": role, "answer": answer}, count))
    yield from (is_ok, status, healthy, expected, by_status, sockets)


def _volume_metrics(found: Iterable[verification_report.VolumeStatus]) -> Iterator[MetricFamily]:
    is_ok = MetricFamily(
        name="nomad_csi_volume_ok", help="Whether a volume is registered as specified and can be used."
    )
    alarm = MetricFamily(
        name="nomad_csi_volume_claimed_without_controller",
        help="Whether a volume is claimed while none of its plugin's controllers is healthy: nothing can detach it.",
    )
    for item in found:
        volume = {"namespace": item.namespace, "volume_id": item.volume_id, "plugin_id": item.plugin_id}
        codes = {finding.code for finding in item.findings}
        is_ok.samples.append((volume, not findings.errors_of(item.findings)))
        alarm.samples.append((volume, "claim-without-controller" in codes))
    yield from (is_ok, alarm)


# Metrics in a file, as the textfile collector of Prometheus' node exporter reads them.
#
# It reads every ``*.prom`` of its folder at any moment, so a file is put in place whole.
# Source: https://github.com/prometheus/node_exporter#textfile-collector, 2026-11-21.


METRICS_FILE_ENDING = ".prom"


def read_file(path: Path) -> str:
    """Return the content of the file; empty: there is none, or it is no text."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def write_file(path: Path, text: str) -> None:
    """
    Write *text* to the file, readable by all: the exporter is another user. The folder must exist.

    Raises `OSError` on failure; the earlier file is kept.
    """
    # In the same folder, since a rename needs the same file system; the collector ignores the suffix.
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  # a descriptor has no path
            file.write(text)
            os.fchmod(descriptor, 0o644)
        Path(beside).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(beside).unlink()
        raise
