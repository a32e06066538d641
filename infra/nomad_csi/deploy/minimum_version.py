"""Whether the servers are as new as the drivers of a plan want them. One question, and none where no driver asks."""

from collections.abc import Iterable, Mapping

from nomad_csi import errors, nomad
from nomad_csi.nomad import gates, servers
from nomad_csi.plan import model
from nomad_csi.verify import findings


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


def _finding(plugin: model.PluginPlan, found: tuple[servers.Server, ...]) -> findings.Finding | None:
    old = [
        f"{item.name} with {item.version}"
        for item in found
        if item.status != "left" and gates.is_older(item.version, plugin.minimum_nomad)
    ]
    if not old:
        return None
    return findings.Finding(
        code="nomad-too-old",
        subject=f"plugin {plugin.plugin_id}",
        severity="error",
        expected=f"Nomad {plugin.minimum_nomad} or later on the servers, for driver {plugin.driver}",
        found=", ".join(old),
        advice="upgrade Nomad; `nomad-csi doctor` says what else older versions do",
    )


def _unseen(wanted: Mapping[str, model.PluginPlan], why: str) -> findings.Finding:
    least = " and ".join(sorted({item.minimum_nomad for item in wanted.values()}))
    return findings.Finding(
        code="nomad-version-unseen",
        subject="servers",
        severity="warning",
        expected=f"Nomad {least} or later on the servers",
        found=why,
        advice="look at the version yourself, or use a token that may see it",
    )
