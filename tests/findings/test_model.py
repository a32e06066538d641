"""What counts as an error among findings."""

import pytest

from nomad_csi import findings


@pytest.mark.parametrize("expected", ["", "one"])
def test_error_is_one_whatever_else_it_says(expected):
    """A warning is none."""
    error = findings.finding("node-missing", "plugin a", found="none", expected=expected)
    warning = findings.finding("client-not-counted", "plugin b", found="none", expected=expected)

    assert findings.errors_of([warning, error]) == (error,)
    assert findings.errors_of([warning]) == ()
