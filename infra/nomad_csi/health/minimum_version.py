"""Whether the servers are as new as the drivers of a plan want them. One question, and none where no driver asks."""

from collections.abc import Callable, Iterable, Mapping

from nomad_csi import errors, findings, nomad
from nomad_csi.nomad import gates, servers
from nomad_csi.plan import model


def findings_of(client: nomad.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Return an error for each plugin whose driver wants a newer Nomad than a server is.

    Where the token may not see the servers, that is a warning: nothing is known to be wrong.
    Raises `errors.NomadApiError` where Nomad does not answer.
    """
    wanted = {item.plugin_id: item for item in plugins if item.minimum_nomad}
    if not wanted:
        return ()
    try:
        found = servers.list_servers(client)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return (_unseen(wanted, str(error)),)
    return tuple(finding for plugin in wanted.values() if (finding := _finding(plugin, found)) is not None)


def refuse_older(client: nomad.Nomad, plugins: Iterable[model.PluginPlan]) -> tuple[findings.Finding, ...]:
    """
    Raise `errors.RefusedError` where a server is older than a driver wants it; return what could not be seen.

    Raises what `findings_of` raises too.
    """
    found = findings_of(client, plugins)
    bad = findings.errors_of(found)
    if bad:
        raise errors.RefusedError("; ".join(map(str, bad)))
    return found


def refuse_for_job(client: nomad.Nomad, subject: str, minimum_nomad: str, *, tell: Callable[[str], None]) -> None:
    """
    Raise `errors.RefusedError` where a server is older than *minimum_nomad*, which *subject* wants.

    Where the token may not see the servers, *tell* is told so. Raises `errors.NomadApiError` where Nomad does not
    answer.
    """
    try:
        old = _older(servers.list_servers(client), minimum_nomad)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        tell(f"{subject} wants Nomad {minimum_nomad} or later, and the servers' versions cannot be seen: {error}")
        return
    if old:
        raise errors.RefusedError(
            f"{subject} wants Nomad {minimum_nomad} or later on the servers, found {', '.join(old)}; nothing was "
            "changed: upgrade Nomad; `nomad-csi doctor` says what else older versions do"
        )


def _older(found: Iterable[servers.Server], minimum_nomad: str) -> list[str]:
    return [
        f"{item.name} with {item.version}"
        for item in found
        if item.status != "left" and gates.is_older(item.version, minimum_nomad)
    ]


def _finding(plugin: model.PluginPlan, found: tuple[servers.Server, ...]) -> findings.Finding | None:
    old = _older(found, plugin.minimum_nomad)
    if not old:
        return None
    return findings.finding(
        "nomad-too-old-for-driver",
        f"plugin {plugin.plugin_id}",
        expected=f"Nomad {plugin.minimum_nomad} or later on the servers, for driver {plugin.driver}",
        found=", ".join(old),
        advice="upgrade Nomad; `nomad-csi doctor` says what else older versions do",
    )


def _unseen(wanted: Mapping[str, model.PluginPlan], why: str) -> findings.Finding:
    least = " and ".join(sorted({item.minimum_nomad for item in wanted.values()}))
    return findings.finding(
        "nomad-version-unseen",
        "servers",
        expected=f"Nomad {least} or later on the servers",
        found=why,
    )
