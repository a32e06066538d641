"""The page of AWS permissions has every resource and function of AWS that a component uses."""

import ast
import inspect
from pathlib import Path

import pulumi_aws
import pytest

from nomad_csi import components
from tests.pages import permissions


def used():
    """Return the classes and functions of `pulumi_aws` that the components call, as ``aws.ebs.Volume``."""
    calls = [
        node.func
        for path in Path(components.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    return {name for call in calls if (name := ast.unparse(call)).startswith("aws.")}


def token_of(name):
    """Return Pulumi's token of the class *name*, which its source names."""
    _, module, kind = name.split(".")
    source = inspect.getsource(getattr(getattr(pulumi_aws, module), kind))
    token = f"aws:{module}/{kind[0].lower()}{kind[1:]}:{kind}"
    assert f"'{token}'" in source
    return token


def test_every_resource_type_that_a_component_makes_has_its_row():
    """And stands at a component on the page; no row is left of one that is not made any more."""
    kinds = {name for name in used() if name.rpartition(".")[2][0].isupper()}
    made = {token_of(name) for name in kinds}

    assert made == set(permissions.TABLE["types"])
    assert made == {token for tokens in permissions.components().values() for token in tokens}
    assert used() - kinds == set(permissions.TABLE["functions"])


@pytest.mark.parametrize("token", permissions.TABLE["types"])
def test_row_says_who_makes_reads_and_deletes_it(token):
    """By the actions of a service, with a source each."""
    row = permissions.TABLE["types"][token]

    assert all(row[name] for name in ("create", "read", "delete", "source"))
    assert all(":" in action for action in permissions.actions(token))
    assert all(row.get("more", {"": "x"}).values())
