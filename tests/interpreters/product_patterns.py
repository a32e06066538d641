"""
Every regular expression of the product, as JSON: those of its modules, and those of a call with text alone.

Run in a process of its own: each module is imported while the functions of `re` write down what they are given.
"""

import ast
import importlib
import json
import pkgutil
import re
import sys
from pathlib import Path

import nomad_csi
import nomad_csi_sandbox

PACKAGES = (nomad_csi, nomad_csi_sandbox)
CALLS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
GENERATED = ("csi_pb2", "csi_pb2_grpc")


def main():
    """Print a list of place, pattern and flags."""
    found = {}
    real = re.compile

    def compile_and_note(pattern, flags=0):
        module = sys._getframe(1).f_globals.get("__name__", "")
        if module.partition(".")[0] in {package.__name__ for package in PACKAGES} and isinstance(pattern, str):
            found[pattern, int(flags)] = module
        return real(pattern, flags)

    re.compile = compile_and_note
    for module in modules():
        importlib.import_module(module)
    re.compile = real
    for module in modules():
        for pattern in _in_calls(Path(importlib.import_module(module).__file__)):
            found.setdefault((pattern, 0), module)
    json.dump(sorted([module, pattern, flags] for (pattern, flags), module in found.items()), sys.stdout)


def modules():
    """Yield the names of all modules that are imported without a deed."""
    for package in PACKAGES:
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if each.name.rpartition(".")[2] not in {"__main__", *GENERATED}:
                yield each.name


def _in_calls(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and (node.func.value.id, node.func.attr) in {("re", call) for call in CALLS}
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.args[0].value


if __name__ == "__main__":
    main()
