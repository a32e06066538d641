"""What a token needs for a call has names that Nomad knows."""

from nomad_csi.nomad import permissions
from nomad_csi_sandbox.nomad.acl import acl_rules


def test_each_capability_is_one_of_nomads():
    """A name that Nomad does not know would be refused in a policy, and seen as missing by `doctor`."""
    known = {*acl_rules.WRITE, *acl_rules.OTHERS}
    assert {name for need in permissions.NEEDS.values() for name in need.any_of} <= known
