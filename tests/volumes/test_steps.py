"""What changes volumes in Nomad stands in a few modules of steps, behind the decision and its check."""

import ast
from pathlib import Path

import nomad_csi

PACKAGE = Path(nomad_csi.__file__).parent
STEPS = {
    "volumes.register": {"volumes/sending.py", "volumes/steps.py"},
    "volumes.deregister": {"volumes/deregistration.py"},
    "volumes.create": {"volumes/steps.py"},
    "snapshots.create": {"volumes/volume_snapshots.py"},
    "snapshots.delete": {"volumes/volume_snapshots.py"},
    "services.delete_volume": {"volumes/deleters.py"},
}
"""Module and function that changes a volume or its storage -> the modules that use it."""


def used(path):
    """Yield ``module.function`` of each attribute that the file reads of a module that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {item.asname or item.name: item.name for item in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield f"{names[node.value.id]}.{node.attr}"


def test_volumes_are_changed_by_the_steps_alone():
    """Nothing registers, creates, deregisters or deletes past the decision."""
    found = {name: set() for name in STEPS}
    for path in PACKAGE.rglob("*.py"):
        for name in found.keys() & set(used(path)):
            found[name].add(str(path.relative_to(PACKAGE)))

    assert found == STEPS
