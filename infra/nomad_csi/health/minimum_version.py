"""Check the servers' version against the minimum of this package and of the drivers in a plan. One request at most."""

from collections.abc import Callable, Iterable, Sequence

from nomad_csi import errors, findings, nomad
from nomad_csi.nomad import nodes, version_gates
from nomad_csi.plan import model

_ADVICE = "upgrade Nomad; `nomad-csi doctor` lists other problems of older versions"


def findings_of(client: nomad.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Return an error finding if a server is older than the oldest supported Nomad, or than a driver of *plugins* needs.

    If the token may not see the servers, return a warning: nothing is known to be wrong. Sends no request if no
    driver needs a version. Raises `errors.NomadApiError` where Nomad does not respond.
    """
    wanted = [item for item in plugins if item.minimum_nomad]
    return _read_versions(client, wanted) if wanted else ()


def _read_versions(client: nomad.Nomad, wanted: Sequence[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    try:
        found = nodes.list_servers(client)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return (_unseen({item.minimum_nomad for item in wanted}, str(error)),)
    if unsupported := _older(found, version_gates.releases().oldest):
        return (_unsupported(unsupported),)
    return tuple(finding for plugin in wanted if (finding := _finding(plugin, found)) is not None)


def refuse_older(client: nomad.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Raise `errors.RefusedError` where a server is too old for this package or a driver; return what is unchecked.

    Checks also if no driver needs a version. If Nomad does not respond, nothing is reported: the next request
    fails in the same way, or is retried, which this one is not.
    """
    try:
        found = _read_versions(client, [item for item in plugins if item.minimum_nomad])
    except errors.NomadApiError:
        return ()
    bad = findings.errors_of(found)
    if bad:
        raise errors.RefusedError("; ".join(map(str, bad)))
    return found


def refuse_for_job(client: nomad.Nomad, subject: str, minimum_nomad: str, *, tell: Callable[[str], None]) -> None:
    """
    Raise `errors.RefusedError` where a server is older than *minimum_nomad*, which *subject* wants, or unsupported.

    If the token may not see the servers, *tell* logs that. Raises `errors.NomadApiError` where Nomad does not
    respond.
    """
    oldest = version_gates.releases().oldest
    try:
        found = nodes.list_servers(client)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        least = minimum_nomad if version_gates.is_older(oldest, minimum_nomad) else oldest
        tell(f"{subject} requires Nomad {least} or later, but the servers' versions cannot be seen: {error}")
        return
    if unsupported := _older(found, oldest):
        raise errors.RefusedError(f"{_unsupported(unsupported)}; nothing was changed")
    if old := _older(found, minimum_nomad):
        raise errors.RefusedError(
            f"{subject} requires Nomad {minimum_nomad} or later on the servers, found {', '.join(old)}; nothing was "
            f"changed: {_ADVICE}"
        )


def _older(found: Iterable[nodes.Server], least: str) -> list[str]:
    """Return text on each of the servers *found* that is older than *least*."""
    return [
        f"{item.name} with {item.version}"
        for item in found
        if item.status != "left" and version_gates.is_older(item.version, least)
    ]


def _unsupported(old: Iterable[str]) -> findings.Finding:
    return findings.finding(
        "nomad-unsupported",
        "servers",
        expected=f"Nomad {version_gates.releases().oldest} or later, the oldest tested version",
        found=", ".join(old),
    )


def _finding(plugin: model.PluginPlan, found: tuple[nodes.Server, ...]) -> findings.Finding | None:
    old = _older(found, plugin.minimum_nomad)
    if not old:
        return None
    return findings.finding(
        "nomad-too-old-for-driver",
        f"plugin {plugin.plugin_id}",
        expected=f"Nomad {plugin.minimum_nomad} or later on the servers, for driver {plugin.driver}",
        found=", ".join(old),
        advice=_ADVICE,
    )


def _unseen(wanted: Iterable[str], why: str) -> findings.Finding:
    oldest = version_gates.releases().oldest
    least = " and ".join(sorted({*(item for item in wanted if version_gates.is_older(oldest, item)), oldest}))
    return findings.finding(
        "nomad-version-unseen",
        "servers",
        expected=f"Nomad {least} or later on the servers",
        found=why,
    )
