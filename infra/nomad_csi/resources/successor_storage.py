"""
Whether AWS has the storage that a volume is to stand for, and where.

EC2 and EFS know nothing of other accounts and regions. So an id that they do not know is wrong only where they know the
one that it follows.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.aws import attachments, ebs_volumes, file_systems, regions
from nomad_csi.health import zones
from nomad_csi.nomad import plugins
from nomad_csi.resources.frame import properties

_GONE = frozenset({"deleting", "deleted", "error"})
"""States of storage that is not there to be used. Source: Amazon EC2 and EFS API references, 2026-08."""


def problems(
    plugin: plugins.Plugin | None, news: Mapping[str, Any], recorded: Mapping[str, Any], unchecked: list[str]
) -> Iterator[errors.Problem]:
    """
    Yield what AWS has against the external id of *news*, and against its zones; what it was not asked is *unchecked*.

    *recorded* are the outputs of the registration that it follows.
    """
    external_id, old = news["externalId"], recorded.get("externalId", "")
    is_ebs, is_efs = attachments.is_ebs(external_id), file_systems.parts(external_id) is not None
    if not (is_ebs or is_efs):
        return
    region = _region(plugin, news)
    if not region:
        unchecked.append(f"{external_id} in AWS (no region is known: set AWS_REGION)")
        return
    try:
        judged = _of_ebs(external_id, old, region, news) if is_ebs else _of_efs(external_id, old, region, news)
    except errors.AwsError as error:
        unchecked.append(f"{external_id} in AWS ({error})")
        return
    if judged is None:
        unchecked.append(f"{external_id} in AWS (these credentials do not see it in {region})")
        return
    yield from judged


def _region(plugin: plugins.Plugin | None, news: Mapping[str, Any]) -> str:
    """Return the region of the volume's zones, else that of the plugin's nodes, else that of the environment."""
    running = plugin.nodes if plugin else ()
    for named in (_zones(news), tuple(zones.of_segments(item.segments) for item in running)):
        found = regions.of_zones(named)
        if found:
            return next(iter(found)) if len(found) == 1 else ""
    return regions.of_environment()


def _zones(news: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the zones of the required places that are known."""
    places = news.get("requiredTopologies", ())
    if places == properties.UNKNOWN:
        return ()
    segments = (place.get("segments") for place in places if isinstance(place, Mapping))
    found = (zones.of_segments(item) for item in segments if isinstance(item, Mapping))
    return tuple(zone for zone in found if zone and zone != properties.UNKNOWN)


def _of_ebs(external_id: str, old: str, region: str, news: Mapping[str, Any]) -> tuple[errors.Problem, ...] | None:
    """Return what EC2 has against *external_id*; ``None`` where it does not say."""
    seen = ebs_volumes.look({external_id, old}, region)
    found = seen.get(external_id)
    if found is None:
        return (_absent(external_id, old, "an EBS volume", region),) if old in seen else None
    if found.state in _GONE:
        return (_unusable(external_id, found.state),)
    wrong = [zone for zone in _zones(news) if zone != found.zone]
    if not wrong:
        return ()
    allowed = f"{found.zone}, the zone of {external_id}"
    return (errors.Problem(path="requiredTopologies", got=", ".join(wrong), allowed=allowed),)


def _of_efs(external_id: str, old: str, region: str, news: Mapping[str, Any]) -> tuple[errors.Problem, ...] | None:
    """Return what EFS has against *external_id*; ``None`` where it does not say."""
    seen = file_systems.find((external_id, old), region)
    (system_id, point_id), old_id = file_systems.parts(external_id) or ("", ""), file_systems.parts(old) or ("", "")
    found = seen.file_systems.get(system_id)
    if found is None:
        is_sure = old_id[0] in seen.file_systems and not _is_of_another_account(news)
        return (_absent(system_id, old_id[0], "a file system", region),) if is_sure else None
    if found.state in _GONE:
        return (_unusable(system_id, found.state),)
    if point_id and (owner := seen.access_points.get(point_id)) != system_id:
        got = f"{point_id!r}, {f'one of {owner}' if owner else 'which EFS does not know'}"
        return (errors.Problem(path="externalId", got=got, allowed=f"an access point of {system_id}"),)
    return ()


def _is_of_another_account(news: Mapping[str, Any]) -> bool:
    context = news.get("context", {})
    return context == properties.UNKNOWN or any(name.lower() == "crossaccount" for name in context)


def _absent(external_id: str, old: str, kind: str, region: str) -> errors.Problem:
    allowed = f"{kind} of {region}, where AWS knows {old} and not this one"
    return errors.Problem(path="externalId", got=repr(external_id), allowed=allowed, fix="correct the id")


def _unusable(external_id: str, state: str) -> errors.Problem:
    return errors.Problem(path="externalId", got=f"{external_id!r}, whose state is {state}", allowed="usable storage")
