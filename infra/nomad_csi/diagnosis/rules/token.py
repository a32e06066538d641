"""Capabilities that this package needs and the token lacks. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import finding
from nomad_csi.nomad import permissions, token_rights
from nomad_csi.volumes import ownership

RECORD = ownership.path_of("volume")
"""One of the variables with owner records."""


LEVELS = {"node": ("read", "write"), "plugin": ("read",)}
"""Policy levels that satisfy a level in ``permissions.yaml``."""

_CHECK = "what the token may do"


@rule("token-cannot", token=_CHECK)
def find_missing_rights(cluster: facts.Facts, token: token_rights.AclToken) -> Iterator[facts.Outcome]:
    """Yield the tasks that will fail with 403."""
    if token.is_unlimited:
        return
    subject = f"token {token.name}"
    if token.unread:
        reason = f"Nomad does not show the rules of {facts.named(list(token.unread))}"
        yield facts.Unchecked(check=f"what {subject} may do", reason=reason)
        return
    for name, rights in permissions.table().tasks.items():
        yield from _lacking(cluster, token, name, rights)


def _lacking(
    cluster: facts.Facts, token: token_rights.AclToken, name: str, rights: permissions.Rights
) -> Iterator[facts.Outcome]:
    levels = [level for call in rights.cluster if (level := permissions.table().calls[call].level)]
    lacking = [
        *_missing_in_namespaces(token, _job_namespaces(cluster), rights.jobs),
        *_missing_in_namespaces(token, _volume_namespaces(cluster), rights.volumes),
        *_missing_on_owner_records(token, _volume_namespaces(cluster), rights.volumes),
        *(f'{level} {{ policy = "read" }}' for level in levels if token.level(level) not in LEVELS[level]),
    ]
    if lacking:
        missing = "; ".join(dict.fromkeys(lacking))
        evidence = f"/v1/acl/policy ({facts.named(list(token.policies)) or 'it has none'}): not allowed: {missing}"
        yield finding("token-cannot", f"token {token.name}: {name}", found=evidence)


def _missing_in_namespaces(
    token: token_rights.AclToken, namespaces: Iterable[str], calls: Sequence[str]
) -> Iterator[str]:
    ordered = sorted(namespaces)
    for one_of in permissions.alternatives(calls):
        without = [name for name in ordered if not one_of & token.capabilities(name)]
        if one_of and without:
            yield f"{' or '.join(sorted(one_of))} in namespace {facts.named(without)}"


def _missing_on_owner_records(
    token: token_rights.AclToken, namespaces: Iterable[str], calls: Sequence[str]
) -> Iterator[str]:
    needed = permissions.variable_rights(calls)
    without = [name for name in sorted(namespaces) if not needed <= token.variable_capabilities(name, RECORD)]
    if needed and without:
        yield f"{', '.join(sorted(needed))} on variables nomad-csi/* in namespace {facts.named(without)}"


def _job_namespaces(cluster: facts.Facts) -> frozenset[str]:
    return frozenset(task.namespace for task in facts.known_or(cluster.tasks, ())) or frozenset({cluster.namespace})


def _volume_namespaces(cluster: facts.Facts) -> frozenset[str]:
    return frozenset(volume.key.partition("/")[0] for volume in facts.known_or(cluster.volumes, ())) or frozenset(
        {cluster.namespace}
    )
