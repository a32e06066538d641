"""Check the servers' version against the minimum of this package and of the drivers in a plan. One request at most."""

from collections.abc import Callable, Iterable, Mapping

from nomad_csi import errors, findings
from nomad_csi.nomad import nodes, version_gates
from nomad_csi.nomad.http import request
from nomad_csi.plan import model


def findings_of(client: request.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Return an error finding if a server is older than the oldest supported Nomad, or than a driver of *plugins* needs.

    If the token may not see the servers, return a warning: nothing is known to be wrong. Sends no request if no
    driver needs a version. Raises `errors.NomadApiError` where Nomad does not respond.
    """
    wanted = _wanted(plugins)
    return _check(client, wanted) if wanted else ()


def refuse_older(client: request.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Raise `errors.RefusedError` where a server is too old for this package or a driver; return what is unchecked.

    Checks also if no driver needs a version. If Nomad does not respond, nothing is reported: the next request
    fails in the same way, or is retried, which this one is not.
    """
    try:
        found = _check(client, _wanted(plugins))
    except errors.NomadApiError:
        return ()
    if bad := findings.errors_of(found):
        raise errors.RefusedError("; ".join(map(str, bad)))
    return found


def refuse_for_job(client: request.Nomad, subject: str, minimum_nomad: str, *, tell: Callable[[str], None]) -> None:
    """
    Raise `errors.RefusedError` where a server is older than *minimum_nomad*, which *subject* wants, or unsupported.

    If the token may not see the servers, *tell* logs that. Raises `errors.NomadApiError` where Nomad does not
    respond.
    """
    found = _check(client, {subject: (minimum_nomad, "")})
    if bad := findings.errors_of(found):
        raise errors.RefusedError("; ".join([*map(str, bad), "nothing was changed"]))
    for unseen in found:
        tell(f"{subject}: {unseen}")


def _wanted(plugins: Iterable[model.PluginPlan]) -> dict[str, tuple[str, str]]:
    """Return subject -> minimum version, and for what."""
    return {
        f"plugin {item.plugin_id}": (item.minimum_nomad, f", for driver {item.driver}")
        for item in plugins
        if item.minimum_nomad
    }


def _check(client: request.Nomad, wanted: Mapping[str, tuple[str, str]]) -> tuple[findings.Finding, ...]:
    oldest = version_gates.releases().oldest
    try:
        servers = nodes.list_servers(client)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        least = {oldest} | {version for version, _ in wanted.values() if version_gates.is_older(oldest, version)}
        expected = f"Nomad {' and '.join(sorted(least))} or later on the servers"
        return (findings.finding("nomad-version-unseen", "servers", expected=expected, found=str(error)),)
    if old := _older(servers, oldest):
        expected = f"Nomad {oldest} or later, the oldest tested version"
        return (findings.finding("nomad-unsupported", "servers", expected=expected, found=old),)
    return tuple(
        findings.finding(
            "nomad-too-old-for-driver",
            subject,
            expected=f"Nomad {version} or later on the servers{why}",
            found=old,
            advice="upgrade Nomad; `nomad-csi doctor` lists other problems of older versions",
        )
        for subject, (version, why) in wanted.items()
        if (old := _older(servers, version))
    )


def _older(servers: Iterable[nodes.Server], least: str) -> str:
    """Return text on the servers that are older than *least*; empty: none is."""
    return ", ".join(
        f"{item.name} with {item.version}"
        for item in servers
        if item.status != "left" and version_gates.is_older(item.version, least)
    )
