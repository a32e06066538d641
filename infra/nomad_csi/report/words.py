"""How grave a word is, for whoever paints it. Pure."""

from collections.abc import Iterable
from typing import Literal

from nomad_csi.health import plugins
from nomad_csi.report import model

Kind = Literal["good", "warn", "bad", "unsure"]

ORDER: tuple[Kind, ...] = ("bad", "unsure", "warn", "good")
"""The gravest first."""

NOT_JUDGED = "not checked"

_GOOD = frozenset({"healthy", "ok", "live", "ready", "verified"})
_WARN = frozenset({"starting", "restarted", "outdated", "draining", "ineligible", "ended", "warning", "unverified"})
_UNSURE = frozenset({NOT_JUDGED, "not verified", "initializing"})


def kind(word: str) -> Kind:
    """Return how grave *word* is: a status, the state of a client or of a claim, a severity."""
    if word in _GOOD:
        return "good"
    if word in _UNSURE:
        return "unsure"
    return "warn" if word in _WARN else "bad"


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the gravest of *kinds*; ``good`` where there is none."""
    return min(kinds, key=ORDER.index, default="good")


def of_plugin(plugin: model.ReportedPlugin) -> tuple[str, Kind]:
    """Return the status of *plugin* and how grave it is: what its policy allows for is a warning."""
    if plugin.status is None:
        return NOT_JUDGED, "unsure"
    word = plugin.status.status
    if word == plugins.HEALTHY:
        return word, "good"
    return word, "warn" if plugin.status.ok else "bad"


def of_report(report: model.ClusterReport) -> tuple[str, Kind]:
    """Return the whole in a few words, and how grave it is."""
    if report.errors:
        return counted(report.errors, "error"), "bad"
    if report.unexpected:
        return "not everything could be checked", "unsure"
    if report.warnings:
        return f"no errors, {counted(report.warnings, 'warning')}", "warn"
    return "no errors", "good"


def counted(count: int, noun: str) -> str:
    """Return ``1 error`` or ``1,200 errors``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
