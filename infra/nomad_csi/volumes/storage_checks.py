"""
Check the storage of a volume: by the catalogue, and in AWS.

Few steps need that, and what it imports takes the provider 0.3 s: it is imported where it is called.
"""

from collections.abc import Iterator

from nomad_csi import errors
from nomad_csi.aws import calls, ebs_volumes, file_systems
from nomad_csi.aws import records as aws_records
from nomad_csi.drivers import catalogue
from nomad_csi.frame import resource
from nomad_csi.health import eligibility
from nomad_csi.nomad import plugins
from nomad_csi.plan.registration import VolumeRegistration
from nomad_csi.spec import names

# Whether the external id has the form of the plugin's driver.


def form_problems(plugin: plugins.Plugin, external_id: str) -> Iterator[errors.Problem]:
    """
    Yield a problem where *external_id* is invalid for the plugin's driver, if the catalogue has that.

    An empty one is not known yet.
    """
    known = (
        driver
        for driver in catalogue.DRIVERS.values()
        if plugin.provider == driver.provider.replace("{plugin_id}", plugin.plugin_id)
    )
    driver = next(known, None)
    if driver is not None and external_id not in {"", resource.UNKNOWN} and not driver.external_id.fits(external_id):
        yield errors.Problem(path="externalId", got=repr(external_id), allowed=driver.external_id.allowed)


# Whether AWS has the storage of a new registration, and where.
#
# EC2 and EFS show nothing of other accounts and regions. So an unknown id is an error only where they know the id that
# it replaces.


_GONE = aws_records.LEAVING | {"error"}
"""States of unusable storage. Source: Amazon EC2 and EFS API references, 2026-08."""


def storage_problems(
    plugin: plugins.Plugin | None, document: VolumeRegistration, old: str, unchecked: list[str]
) -> Iterator[errors.Problem]:
    """
    Yield AWS's problems with the storage of *document*, and its zones; checks not made are added to *unchecked*.

    *old*: the external id of the registration that it replaces; empty: it replaces none.
    """
    external_id = document.external_id
    is_ebs, is_efs = ebs_volumes.is_ebs(external_id), file_systems.parts(external_id) is not None
    if not (is_ebs or is_efs):
        return
    region = _region(plugin, document)
    if not region:
        unchecked.append(f"{external_id} in AWS (no region is known: set AWS_REGION)")
        return
    try:
        judged = (_ebs_problem if is_ebs else _efs_problem)(document, old, region)
    except errors.AwsError as error:
        unchecked.append(f"{external_id} in AWS ({error})")
        return
    if judged is None:
        unchecked.append(f"{external_id} in AWS (these credentials do not see it in {region})")
        return
    yield from judged


def _region(plugin: plugins.Plugin | None, document: VolumeRegistration) -> str:
    """Return the region of the volume's zones, else that of the plugin's nodes, else that of the environment."""
    running = plugin.nodes if plugin else ()
    for named in (_zones(document), tuple(eligibility.zone_of_segments(item.segments) for item in running)):
        found = names.region_of_zones(named)
        if found:
            return next(iter(found)) if len(found) == 1 else ""
    return calls.region_of_environment()


def _zones(document: VolumeRegistration) -> tuple[str, ...]:
    """Return the zones of the required places that are known."""
    found = map(eligibility.zone_of_segments, document.required_topologies)
    return tuple(zone for zone in found if zone and zone != resource.UNKNOWN)


def _ebs_problem(document: VolumeRegistration, old: str, region: str) -> tuple[errors.Problem, ...] | None:
    """Return EC2's problems with the storage; ``None`` where they could not be determined."""
    external_id = document.external_id
    seen = ebs_volumes.read_volumes({external_id, old}, region)
    found = seen.get(external_id)
    if found is None:
        return (_absent(external_id, old, "an EBS volume", region),) if old in seen else None
    if found.state in _GONE:
        return (_unusable(external_id, found.state),)
    wrong = [zone for zone in _zones(document) if zone != found.availability_zone]
    if not wrong:
        return ()
    allowed = f"{found.availability_zone}, the zone of {external_id}"
    return (errors.Problem(path="requiredTopologies", got=", ".join(wrong), allowed=allowed),)


def _efs_problem(document: VolumeRegistration, old: str, region: str) -> tuple[errors.Problem, ...] | None:
    """Return EFS's problems with the storage; ``None`` where they could not be determined."""
    external_id = document.external_id
    seen = file_systems.find((external_id, old), region)
    (system_id, point_id), old_id = file_systems.parts(external_id) or ("", ""), file_systems.parts(old) or ("", "")
    found = seen.file_systems.get(system_id)
    if found is None:
        is_another_accounts = any(name.lower() in {"crossaccount", resource.UNKNOWN} for name in document.context)
        is_sure = old_id[0] in seen.file_systems and not is_another_accounts
        return (_absent(system_id, old_id[0], "a file system", region),) if is_sure else None
    if found.state in _GONE:
        return (_unusable(system_id, found.state),)
    if point_id and (owner := seen.access_points.get(point_id)) != system_id:
        got = f"{point_id!r}, {f'one of {owner}' if owner else 'which EFS does not know'}"
        return (errors.Problem(path="externalId", got=got, allowed=f"an access point of {system_id}"),)
    return ()


def _absent(external_id: str, old: str, kind: str, region: str) -> errors.Problem:
    allowed = f"{kind} of {region}, where AWS knows {old} and not this one"
    return errors.Problem(path="externalId", got=repr(external_id), allowed=allowed, fix="correct the id")


def _unusable(external_id: str, state: str) -> errors.Problem:
    return errors.Problem(path="externalId", got=f"{external_id!r}, whose state is {state}", allowed="usable storage")
