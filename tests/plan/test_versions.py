"""Versions are compared as Nomad's constraint operators ``version`` and ``semver`` compare them."""

import pytest

from nomad_csi.plan import versions


@pytest.mark.parametrize(
    ("version", "conditions", "kind", "result"),
    [
        ("1.2.3", "= 1.2.3", "version", True),
        ("1.2.4", "1.2.3", "version", False),
        ("v1.2", "1.2.0", "version", True),
        ("1.2.0.1", "> 1.2", "version", True),
        ("1.2.3", "!= 1.2.3", "version", False),
        ("1.2.3", "< 1.2.3", "version", False),
        ("1.2.3", "> 1.0, < 1.2", "version", False),
        ("1.2.3+build", "<= 1.2.3", "version", True),
        ("1.3.0-beta1", "> 1.2", "version", False),
        ("1.3.0-beta1", "> 1.3.0-alpha", "version", True),
        ("1.3.0-beta1", "> 1.2.0-alpha", "version", False),
        ("1.3.0", "> 1.3.0-beta", "version", True),
        ("1.3.0-beta", "!= 1.3.0", "version", True),
        ("1.3.0-rc.2", "> 1.3.0-rc.10", "semver", False),
        ("1.3.0-rc.1", "> 1.3.0-1", "semver", True),
        ("1.3.0-rc", "< 1.3.0-rc.1", "semver", True),
        ("1.3.0-rc.1", "< 1.3.0-rc.a", "semver", True),
        ("1.3.0-b", "> 1.3.0-a", "semver", True),
        ("1.3.0-beta", "< 1.3.0", "semver", True),
        ("1.2.9", "~> 1.2.3", "version", True),
        ("1.3.0", "~> 1.2.3", "version", False),
        ("1.3.0", "~> 1.2", "version", True),
        ("1.2.2", "~> 1.2.3", "version", False),
        ("1.2.3-b", "~> 1.2.3-a", "version", True),
        ("1.2.3", ">= 1.2.3", "version", True),
        ("1.2.2", ">= 1.2.3", "version", False),
        ("1.2.3", "> 1.2.3", "version", False),
        ("1.2.4", "<= 1.2.3", "version", False),
        ("1.2.3.4", "~> 1.2.3.3", "version", True),
        ("1.2.4.4", "~> 1.2.3.3", "version", False),
        ("1.2.3-b", "~> 1.2.2", "version", False),
        ("1.2.3", "nonsense", "version", False),
        ("1.2.3", "> 1.2, nonsense", "version", False),
        ("nonsense", "> 1.2", "version", False),
    ],
)
def test_versions(version, conditions, kind, result):
    """Pre-releases and the pessimistic operator are where the two orders differ."""
    assert versions.fits(version, conditions, kind) is result
