"""Class names are unique in the package: a name in a traceback, a test or a review means one thing."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "infra/nomad_csi"

DECLARED = {
    "Capability",
    "Claim",
    "Constraint",
    "MountOptions",
    "Node",
    "PluginJob",
    "Volume",
    "VolumeRegistration",
}
"""
Names of `components` that the plan or Nomad's records have, too.

A component's class is named as Pulumi's schema names the type, which is public. It declares what the other class stands
for, and both names are the field's own word.
"""


def names(*, of_components):
    """
    Return the names of all classes of the package, in stubs too, but for what protoc wrote.

    Without the stub of `components`: its classes are those of the modules, as type checkers see them.
    """
    return Counter(
        node.name
        for path in PACKAGE.rglob("*.py*")
        if (path.suffix == ".pyi" or (path.suffix == ".py" and not path.with_suffix(".pyi").exists()))
        and "v1" not in path.parts
        and path.name != "__init__.pyi"
        and ("components" in path.parts) is of_components
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )


def test_no_two_classes_have_one_name():
    """Neither among the components, nor in the rest."""
    for found in (names(of_components=True), names(of_components=False)):
        assert [name for name, count in found.items() if count > 1] == []


def test_components_share_names_with_what_they_declare_alone():
    """The list is that of the reason above it."""
    assert set(names(of_components=True)) & set(names(of_components=False)) == DECLARED
