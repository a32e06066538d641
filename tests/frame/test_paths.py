"""Property paths are written and read as Pulumi does."""

import pytest

from nomad_csi.frame import properties


@pytest.mark.parametrize(
    ("path", "step", "expected"),
    [
        ("", "context", "context"),
        ("capabilities", 0, "capabilities[0]"),
        ("capabilities[0]", "accessMode", "capabilities[0].accessMode"),
        ("segments", "topology.ebs/zone", 'segments["topology.ebs/zone"]'),
        ("context", 'a"b\\c', 'context["a\\"b\\\\c"]'),
    ],
)
def test_join_writes_every_kind_of_step(path, step, expected):
    """A name that is no identifier is quoted, an index stands in brackets."""
    assert properties.join_path(path, step) == expected


@pytest.mark.parametrize(("path", "expected"), [("a", "a"), ("a.b", "a"), ("a[0].b", "a"), ('a["b.c"]', "a")])
def test_top_is_the_first_name(path, expected):
    """The top-level property of a path is what stands before the first dot or bracket."""
    assert properties.top_of_path(path) == expected


@pytest.mark.parametrize(
    ("cover", "path", "expected"),
    [
        ("context", "context", True),
        ("context", "context.tier", True),
        ("context", "contexts", False),
        ("capabilities[*].accessMode", "capabilities[3].accessMode", True),
        ("capabilities[*].accessMode", "capabilities[3].attachmentMode", False),
        ("segments[*]", 'segments["a.b"]', True),
        ("mountOptions.fsType", "mountOptions", False),
    ],
)
def test_is_covered_means_the_path_or_one_below(cover, path, expected):
    """What is ignored covers itself and everything below, a star any index or name."""
    assert properties.is_covered(path, [cover]) is expected
