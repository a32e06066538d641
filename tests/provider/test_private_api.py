"""What the product imports of Pulumi's SDK that the SDK does not promise to keep, each with a test that notices a change."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("infra/nomad_csi", "infra/nomad_csi_sandbox")
INPUTS = "tests/provider/test_component_inputs.py::"
WIRE = "tests/provider/test_wire.py::"

SCHEMA = "tests/sandbox/aws/provider/test_table.py::test_schema_has_every_type_and_function_with_its_inputs"

NOTICED_BY = {
    "pulumi._types": SCHEMA,
    "pulumi._types.input_type_types": SCHEMA,
    "pulumi._types.is_input_type": SCHEMA,
    "pulumi._types.is_output_type": SCHEMA,
    "pulumi._types.output_type_types": SCHEMA,
    "pulumi._types.resource_types": SCHEMA,
    "pulumi.provider.experimental.util": f"{INPUTS}test_names_of_records_are_translated_and_keys_of_maps_are_not",
    "pulumi.provider.server.ProviderServicer._construct_inputs": f"{INPUTS}test_an_unknown_value_is_an_output",
    "pulumi.runtime._grpc_settings._GRPC_CHANNEL_OPTIONS": "tests/provider/test_private_api.py::test_limit_of_messages_is_the_sdks",
    "pulumi.runtime.rpc._special_output_value_sig": f"{WIRE}test_output_values_without_a_value_are_unknown",
    "pulumi.runtime.rpc._special_secret_sig": f"{WIRE}test_secrets_below_the_top_belong_to_their_top",
    "pulumi.runtime.rpc._special_sig_key": f"{WIRE}test_values_survive",
}
"""Private or experimental name -> the test. ``make canary`` runs these with the newest SDK."""


def private(name):
    """Return whether the SDK promises nothing for a dotted *name*: it is experimental, or begins with an underscore."""
    return name.startswith("pulumi.provider.experimental.") or re.search(r"\._(?!_)", name) is not None


def names(tree):
    """Return the dotted names of Pulumi's SDK that a module uses."""
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
        elif isinstance(node, ast.Import):
            imported |= {
                (item.asname or item.name).split(".")[0]: (item.asname and item.name) or item.name.split(".")[0]
                for item in node.names
            }

    def dotted(node):
        if isinstance(node, ast.Attribute):
            return (before := dotted(node.value)) and f"{before}.{node.attr}"
        return imported.get(node.id) if isinstance(node, ast.Name) else None

    used = {dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)} - {None}
    return {name for name in used | set(imported.values()) if name.startswith("pulumi.")}


def test_list_is_of_what_is_used():
    """A new use of a private name gets its test, one that is gone loses its row."""
    used = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            used |= {name for name in names(ast.parse(path.read_text(encoding="utf-8"))) if private(name)}
    parts = {".".join(name.split(".")[:4]) if ".experimental." in name else name for name in used}

    assert parts == set(NOTICED_BY)


@pytest.mark.parametrize("test", sorted(set(NOTICED_BY.values())))
def test_named_test_is_there(test):
    """By its file and function."""
    file, _, function = test.partition("::")

    assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")


def test_limit_of_messages_is_the_sdks():
    """The engine sends what the SDK's own servers take: states of hundreds of MiB."""
    from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS  # noqa: PLC0415

    assert dict(_GRPC_CHANNEL_OPTIONS)["grpc.max_receive_message_length"] == 400 * 1024 * 1024
