"""What exists under the tags of a stack and is not in its state: the leavings of an interrupted run."""

from collections.abc import Iterable


def unrecorded(found: Iterable[str], recorded: Iterable[str]) -> tuple[str, ...]:
    """
    Return which of the external ids *found* stand in none of the *recorded* ARNs.

    ``unrecorded(["vol-1", "vol-2"], ["arn:aws:ec2:us-east-1:1:volume/vol-1"])`` is ``("vol-2",)``.
    """
    known = {arn.rpartition("/")[2] for arn in recorded}
    return tuple(sorted(set(found) - known))
