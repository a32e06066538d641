"""Orphaned storage: it has a stack's tags but is not in its state, after an interrupted run or from another stack."""

from collections.abc import Collection, Iterable


def unrecorded(found: Iterable[str], recorded: Iterable[str]) -> tuple[str, ...]:
    """
    Return the external ids in *found* that none of the *recorded* ARNs contains.

    ``unrecorded(["vol-1", "vol-2"], ["arn:aws:ec2:us-east-1:1:volume/vol-1"])`` is ``("vol-2",)``.
    """
    known = {arn.rpartition("/")[2] for arn in recorded}
    return tuple(sorted(set(found) - known))


def is_of_another(stack_id: str, cluster: str, stack_ids: Collection[str], clusters: Collection[str]) -> bool:
    """
    Return whether storage tagged with a stack's label belongs to another stack with the same label.

    *stack_id* and *cluster* are the storage's tags, empty where absent; *stack_ids* and *clusters* are from the state.
    A stack records its id in the state before it creates storage. Releases without ids tagged at most the cluster.
    """
    if stack_id:
        return stack_id not in stack_ids
    return bool(cluster and clusters) and cluster not in clusters
