import csv
from pathlib import Path

import pytest
from google.protobuf import descriptor

from nomad_csi.csi.v1 import csi_pb2
from tests.csi import proto_code

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATION = Path(__file__).with_name("csi_specification.csv")


@pytest.mark.parametrize("name", proto_code.FILES)
def test_committed_code_is_what_the_compiler_writes(tmp_path, name):
    """Nobody edited generated code by hand, and nobody forgot `make proto`."""
    proto_code.generate(tmp_path)

    generated = (tmp_path / proto_code.PACKAGE / name).read_bytes()
    assert generated == (ROOT / "infra" / proto_code.PACKAGE / name).read_bytes()


def test_every_number_is_the_one_of_the_specification():
    """Each of our fields, enum values and RPCs stands in the real CSI specification, with number and type."""
    real = _specification()

    ours = set(_ours(csi_pb2.DESCRIPTOR))

    assert len(ours) > 150
    assert ours - real == set()


def test_specification_data_is_complete():
    """The list to compare with has the size that protoc found, so that a cut file cannot pass."""
    assert len(_specification()) == 355


def _specification():
    lines = SPECIFICATION.read_text(encoding="utf-8").splitlines()
    return {tuple(row.values()) for row in csv.DictReader(line for line in lines if not line.startswith("#"))}


def _ours(file):
    for message in file.message_types_by_name.values():
        yield from _message(message)
    for service in file.services_by_name.values():
        for method in service.methods:
            types = f"{method.input_type.full_name} -> {method.output_type.full_name}"
            yield service.full_name, method.name, "", types


def _message(message):
    for field in message.fields:
        yield message.full_name, field.name, str(field.number), _type(field)
    for enum in message.enum_types:
        for value in enum.values:
            yield enum.full_name, value.name, str(value.number), "enum value"
    for nested in message.nested_types:
        yield from _message(nested)


def _type(field):
    scalar = {
        descriptor.FieldDescriptor.TYPE_STRING: "string",
        descriptor.FieldDescriptor.TYPE_BOOL: "bool",
        descriptor.FieldDescriptor.TYPE_INT32: "int32",
        descriptor.FieldDescriptor.TYPE_INT64: "int64",
    }
    named = field.message_type or field.enum_type
    name = named.full_name if named else scalar[field.type]
    return f"repeated {name}" if field.is_repeated else name
