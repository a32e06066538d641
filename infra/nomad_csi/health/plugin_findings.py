"""Findings on a plugin as a whole: its jobs, its record, and the number of its instances."""

from collections.abc import Iterator, Mapping

from nomad_csi import findings
from nomad_csi.findings import causes, registry
from nomad_csi.health import instances, observed_plugin, policy, states
from nomad_csi.plan import model
from nomad_csi.text import foreign, listing

# Findings on one instance.


def check_instance(
    expectation: model.PluginExpectation, row: instances.InstanceRow, *, tolerated: bool
) -> Iterator[findings.Finding]:
    """Yield findings on *row*; `check_foreign` has some more. *tolerated*: enough others are healthy."""
    if row.code == instances.NOT_OURS:
        return
    if row.is_extra:
        yield findings.finding("instance-extra", row.subject, expected="none", found=row.detail)
    elif row.code:
        shown = row.detail
        if row.code == "node-missing":
            shown = f"none ({row.detail})" if row.detail else "none"
        is_tolerated = tolerated and row.status != "wrong-identity"
        yield findings.finding(
            "instance-tolerated" if is_tolerated else row.code,
            row.subject,
            expected=_expected_of(expectation, row),
            found=f"{row.status}: {shown}" if is_tolerated else shown,
            advice=registry.codes()[row.code].fix if is_tolerated else "",
            names={"ALLOC": row.alloc_id[:8]},
            links=(row.subject, causes.of_role(row.plugin_id, row.role), causes.of_client(row.node_id)),
        )
    elif expectation.evidence == "csi" and row.evidence != "csi":
        shown = f"only Nomad's status: {row.csi.detail}"
        expected = "its own answers over its CSI socket"
        yield findings.finding("csi-unverified", row.subject, expected=expected, found=shown)


def _expected_of(expectation: model.PluginExpectation, row: instances.InstanceRow) -> str:
    supports = expectation.controller_supports if row.role == "controller" else expectation.node_supports
    role = f"supports {', '.join(supports)}" if supports else "serves its role"
    known = {
        "instance-capability-missing": f"an instance that {role}",
        "instance-duplicate": "one instance on each client",
        "provider-differs": expectation.provider,
        "version-differs": f"version {expectation.version}",
    }
    return known.get(row.code, "a healthy instance")


NOT_ASKED = "socket-not-asked"

_Rows = tuple[instances.InstanceRow, ...]


def check_sockets(
    expectation: model.PluginExpectation, rows: _Rows, zones: Mapping[str, int], expected: int
) -> Iterator[findings.Finding]:
    """Yield, by reason, the instances without a probe result: in a large cluster there would be hundreds."""
    groups: dict[tuple[str, str, str], list[instances.InstanceRow]] = {}
    lenient = {role: _is_verified(expectation, rows, zones, expected, role) for role in ("node", "controller")}
    for row in rows:
        if row.csi.status == observed_plugin.NO_ANSWER:
            code = "socket-not-needed" if row.is_extra or lenient[row.role] else NOT_ASKED
            groups.setdefault((code, row.csi.detail, row.csi.advice), []).append(row)
    asked = sum(row.csi.status != "" for row in rows)
    for (code, why, advice), silent in groups.items():
        yield findings.finding(
            code,
            f"plugin {expectation.plugin_id}",
            expected="an answer over the socket of every instance",
            found=f"none from {len(silent)} of {asked}, on {_named(silent)}: {foreign.clean(why)}",
            advice=advice,
        )


def _is_verified(
    expectation: model.PluginExpectation, rows: _Rows, zones: Mapping[str, int], expected: int, role: str
) -> bool:
    """Return whether enough instances of *role* were verified by CSI probe: all, unless the policy allows fewer."""
    well = tuple(row for row in rows if row.role == role and not row.code and not row.is_extra and row.csi.healthy)
    if role == "controller":
        return bool(well) and len(well) >= expectation.controllers
    return not policy.is_strict(expectation) and not any(policy.check(expectation, zones, well, expected))


def _named(rows: list[instances.InstanceRow]) -> str:
    return listing.shortened(list(dict.fromkeys(row.node_name for row in rows)))


# The plugin as a whole.


def check_record(
    expectation: model.PluginExpectation, observed: observed_plugin.ObservedPlugin
) -> Iterator[findings.Finding]:
    """Yield findings on missing or unplanned jobs, and on a record that is missing or of another driver."""
    subject = f"plugin {expectation.plugin_id}"
    planned = [item for item in observed.ran if item.is_wanted]
    roles_without_job = [
        causes.of_role(expectation.plugin_id, role)
        for role in observed_plugin.ROLES["monolith"]
        if not any(item.serves(role, monolith=expectation.monolith) for item in planned)
    ]
    all_nodes = (causes.of_all_nodes(expectation.plugin_id),)
    lacks_nodes = causes.of_role(expectation.plugin_id, "node") in roles_without_job
    for job_id in observed.missing_jobs:
        yield findings.finding(
            "job-missing",
            f"job {expectation.namespace}/{job_id}",
            expected=f"running, for {subject}",
            found="no such job, or a stopped one",
            names={"JOB": job_id},
            links=(*sorted(roles_without_job), *(all_nodes if lacks_nodes else ())),
        )
    record = observed.plugin
    if record is None:
        yield findings.finding(
            "plugin-missing",
            subject,
            expected="a plugin known to Nomad",
            found="none with this id",
            links=(subject, *causes.of_plugin(expectation.plugin_id), *all_nodes),
        )
    elif record.provider not in ("", expectation.provider):
        reported = foreign.clean(record.provider)
        yield findings.finding("provider-differs", subject, expected=expectation.provider, found=reported)
    yield from _check_other_jobs(expectation, observed)


def _check_other_jobs(
    expectation: model.PluginExpectation, observed: observed_plugin.ObservedPlugin
) -> Iterator[findings.Finding]:
    """
    Yield a warning for each other job with an instance beside one of the plan's, and for each that cannot be read.

    Nomad lists one of two instances on a client. If that is the other job's, `instances` reports an error; if
    it is the plan's, all works until the other one restarts: a warning that does not stop a roll-over.
    """
    own = [item for item in instances.all_of(observed.plugin) if observed.find_allocation(item.alloc_id)]
    for other in observed.others:
        where = "" if other.namespace == expectation.namespace else f" of namespace {other.namespace}"
        name = f"job {other.job_id}{where}"
        listed = {item.node_id for item in own if item.role in other.roles}
        names = {
            item.node_name
            for item in other.allocations
            if (item.desired_status, item.client_status) == ("run", "running") and item.node_id in listed
        }
        if other.unread:
            expected = f"to see where {name} runs the plugin"
            yield findings.finding(
                "job-unread", f"plugin {expectation.plugin_id}", expected=expected, found=other.unread
            )
        elif names:
            yield findings.finding(
                "job-duplicate",
                f"plugin {expectation.plugin_id}",
                expected=f"no instances of {name} on the clients of the plan's jobs",
                found=f"instances on {listing.shortened(sorted(names))}",
            )


def check_foreign(expectation: model.PluginExpectation, rows: _Rows, *, tolerated: bool) -> Iterator[findings.Finding]:
    """Yield one finding for each reason why an instance is not the plan's, with the clients that it alone serves."""
    groups: dict[str, list[instances.InstanceRow]] = {}
    for row in rows:
        if row.code == instances.NOT_OURS:
            groups.setdefault(row.detail, []).append(row)
    for detail, strangers in groups.items():
        yield findings.finding(
            "instance-tolerated" if tolerated else instances.NOT_OURS,
            f"plugin {expectation.plugin_id}",
            expected="an instance of its own jobs on each client",
            found=f"{detail} on {_named(strangers)}",
        )


def check_controllers(
    expectation: model.PluginExpectation, rows: _Rows, expected_nodes: int
) -> Iterator[findings.Finding]:
    """Yield findings on too few or too many controllers; those that exist have findings of their own."""
    controllers = [row for row in rows if row.role == "controller"]
    counted = [row for row in controllers if not row.is_extra]
    healthy = sum(row.status == states.HEALTHY for row in counted)
    least = policy.needed_controllers(expectation, expected_nodes, expectation.controllers)
    expected = f"{least or 'no'} {'controller' if least == 1 else 'controllers'}"
    as_nodes = expectation.monolith and len(counted) == _recorded(rows, "node")
    if len(counted) < least and not as_nodes:  # a missing monolith is reported as a missing node instance
        extra = [row for row in controllers if row.is_extra]
        yield findings.finding(
            "controller-missing",
            f"plugin {expectation.plugin_id}",
            expected=expected,
            found=f"{_recorded(rows, 'controller')} that ever reported healthy",
            links=(
                causes.of_role(expectation.plugin_id, "controller"),
                *(causes.of_client(row.node_id) for row in extra),
            ),
        )
    elif healthy > expectation.controllers:
        subject = f"plugin {expectation.plugin_id}"
        yield findings.finding("controller-extra", subject, expected=expected, found=str(healthy))


def check_nodes(
    expectation: model.PluginExpectation, rows: tuple[instances.InstanceRow, ...]
) -> Iterator[findings.Finding]:
    """Yield a finding on too few node instances of a service job; of a system job each client is checked."""
    if expectation.nodes is None:
        return
    count = sum(row.role == "node" and not row.is_extra for row in rows)
    least = policy.needed(expectation, expectation.nodes)
    if count < least:
        yield findings.finding(
            "instance-missing",
            f"plugin {expectation.plugin_id}",
            expected=listing.counted(least, "instance"),
            found=f"{_recorded(rows, 'node')} that ever reported healthy",
            links=(causes.of_role(expectation.plugin_id, "node"),),
        )


def _recorded(rows: _Rows, role: str) -> int:
    """Return how many expected instances of *role* Nomad has ever seen healthy."""
    return sum(row.role == role and row.evidence != "-" and not row.is_extra for row in rows)
