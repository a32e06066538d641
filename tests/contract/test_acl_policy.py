"""``acl-policy``: what it prints is enough for each command. That all of it is needed: `test_acl_rights`."""

import pytest

from nomad_csi.nomad import permissions
from tests.contract.acl_world import REFUSED, RUNS, said, stack_run


@pytest.mark.parametrize("operation", ["up", "preview", "refresh", "destroy"])
def test_policy_is_enough_for_pulumi(acl_world, operation):
    """Nothing is refused."""
    policy = permissions.least_policy([operation], jobs={"default"}, volumes={"default"})

    printed = stack_run(acl_world, operation, policy)

    assert not REFUSED.search(printed), printed


@pytest.mark.parametrize("command", RUNS)
def test_policy_is_enough(acl_world, command):
    """Nothing is refused, and the exit code is that of a token that may do everything."""
    policy = permissions.least_policy([command], jobs={"default"}, volumes={"default"})
    prepare = RUNS[command]

    by_root = acl_world.run(prepare(acl_world))
    done = acl_world.run(prepare(acl_world), acl_world.token(policy))

    assert not REFUSED.search(said(done)), said(done)
    assert done[0] == by_root[0], (done, by_root)
