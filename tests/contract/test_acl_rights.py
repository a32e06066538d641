"""Without any right of what ``acl-policy`` prints, the command says which right it lacks."""

import pytest

from nomad_csi.nomad import permissions
from tests.contract.acl_world import REFUSED, RUNS, lesser, said, stack_run


@pytest.mark.parametrize("operation", ["up", "preview", "refresh", "destroy"])
def test_each_right_is_needed_and_named_by_pulumi(acl_world, operation):
    """One taken away at a time."""
    policy = permissions.least_policy([operation], jobs={"default"}, volumes={"default"})
    found = {}

    for right, name, less in lesser(policy):
        printed = stack_run(acl_world, operation, less)
        if not REFUSED.search(printed) or name not in printed:
            found[right] = printed

    assert not found, "\n".join(f"without {right}: {printed}" for right, printed in found.items())


@pytest.mark.parametrize("command", RUNS)
def test_each_right_is_needed_and_named(acl_world, command):
    """One taken away at a time: what the command could not do names it."""
    policy = permissions.least_policy([command], jobs={"default"}, volumes={"default"})
    found = {}

    for right, name, less in lesser(policy):
        if (command, right) == ("apply", "read-logs"):
            continue  # of a plugin that fails, before any volume: the row of `up` tries it, by the same code
        done = acl_world.run(RUNS[command](acl_world), acl_world.token(less))
        if not REFUSED.search(said(done)) or name not in said(done):
            found[right] = (done[0], said(done))

    assert not found, "\n".join(f"without {right}: {done}" for right, done in found.items())
