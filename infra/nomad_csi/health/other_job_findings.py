"""What is wrong where a job that is none of the plan's runs the same plugin on the same clients."""

from collections.abc import Iterable, Iterator

from nomad_csi import findings
from nomad_csi.health import eligibility, found, instances
from nomad_csi.plan import model


def check(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    """
    Yield a warning for each other job that has an instance beside one of the plan's, and for each that cannot be read.

    Nomad lists one of two instances on a client. Where that is the other job's, `instances` tells it as an error; where
    it is the plan's, all works until the other one comes up again: worth knowing, and no reason to stop a roll-over.
    """
    for other in plugin_found.others:
        if other.unread:
            yield _finding(expectation, other, "job-unread", other.unread)
        elif names := sorted(_shared(plugin_found, other)):
            yield _finding(expectation, other, "job-duplicate", f"it runs the plugin on {_named(names)} too")


def _finding(expectation: model.PluginExpectation, other: found.OtherJob, code: str, shown: str) -> findings.Finding:
    where = "" if other.namespace == expectation.namespace else f" of namespace {other.namespace}"
    name = f"job {other.job_id}{where}"
    is_unread = code == "job-unread"
    return findings.finding(
        code,
        f"plugin {expectation.plugin_id}",
        severity="warning",
        expected=f"to see where {name} runs it" if is_unread else f"{name} not beside those of the plan",
        found=shown,
    )


def _shared(plugin_found: found.PluginFound, other: found.OtherJob) -> Iterator[str]:
    """Yield the names of the clients where Nomad lists the plan's instance, and *other* has one of the same role."""
    listed = {
        item.node_id
        for item in instances.all_of(plugin_found.plugin)
        if item.role in other.roles and plugin_found.of_allocation(item.alloc_id)
    }
    for item in other.allocations:
        if (item.desired_status, item.client_status) == ("run", "running") and item.node_id in listed:
            yield item.node_name


def _named(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    rest = len(distinct) - eligibility.NAMES_SHOWN
    shown = ", ".join(distinct[: eligibility.NAMES_SHOWN])
    return f"{shown} and {rest} more" if rest > 0 else shown
