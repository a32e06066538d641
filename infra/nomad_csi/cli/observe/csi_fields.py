"""Fields of a CSI request as they are typed, ``FIELD=VALUE``: which there are is read from `proto/csi.proto`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import click
from google.protobuf import descriptor

from nomad_csi import errors
from nomad_csi.cli.common import usage
from nomad_csi.csi import capability, rpc
from nomad_csi.csi.v1 import csi_pb2

MODES: Mapping[str, str] = capability.MODES | {
    name.lower().replace("_", "-"): name for name in csi_pb2.VolumeCapability.AccessMode.Mode.keys()[1:]
}
"""CSI's name of an access mode by Nomad's; modes that only CSI has keep their name."""

ATTACHMENTS: Mapping[str, str] = {"file-system": "mount", "mount": "mount", "block-device": "block", "block": "block"}
UNITS: Mapping[str, int] = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

_SIZE = re.compile(r"(\d{1,19})\s*([A-Za-z]*)", re.ASCII)
_LARGEST = 2**63 - 1

_Field = descriptor.FieldDescriptor


# Values.


def use(given: str) -> dict[str, Any]:
    """Return the capability of ``MODE,ATTACHMENT[,FS_TYPE[,MOUNT_FLAG...]]``."""
    mode, _, rest = given.partition(",")
    kind, *more = rest.split(",")
    mode = mode.strip().lower().replace("_", "-")
    attachment = ATTACHMENTS.get(kind.strip().lower(), "")
    if mode not in MODES or not attachment or (attachment == "block" and more):
        form = "MODE,file-system[,FS_TYPE[,MOUNT_FLAG...]] or MODE,block-device"
        raise usage.wrong(f"{form} with a mode of {', '.join(MODES)}", given)
    mounted = {"fs_type": more[0], "mount_flags": more[1:]} if more else {}
    return {"access_mode": {"mode": MODES[mode]}, attachment: mounted}


def topology(given: str) -> dict[str, Any]:
    """Return the topology of ``KEY=VALUE[,KEY=VALUE...]``."""
    pairs = [part.partition("=") for part in given.split(",")]
    if not all(key and equals for key, equals, _ in pairs):
        raise usage.wrong("KEY=VALUE[,KEY=VALUE...]", given)
    return {"segments": {key: value for key, _, value in pairs}}


def size(given: str) -> int:
    """Return the bytes of ``1073741824`` or ``10GiB``; decimal units are refused, as few storage has such sizes."""
    found = _SIZE.fullmatch(given.strip())
    if found is None or found[2] not in UNITS or not 0 < int(found[1]) * UNITS[found[2]] <= _LARGEST:
        units = ", ".join(filter(None, UNITS))
        raise usage.wrong(f"bytes, or a number with {units}, such as 10GiB", given)
    return int(found[1]) * UNITS[found[2]]


def whole(given: str) -> int:
    """Return an integer above 0."""
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 2**31:
        raise usage.wrong("a whole number above 0", given)
    return int(given)


SHORT: Mapping[str, Callable[[str], dict[str, Any]]] = {"csi.v1.VolumeCapability": use, "csi.v1.Topology": topology}
"""Messages with a short form."""

NUMBERS = {
    _Field.CPPTYPE_INT64: size,
    _Field.CPPTYPE_UINT64: size,
    _Field.CPPTYPE_INT32: whole,
    _Field.CPPTYPE_UINT32: whole,
}


def _one_of(given: str, known: Iterable[str]) -> str:
    names = list(known)
    if given not in names:
        raise usage.wrong(f"one of {', '.join(names)}", given, usage.nearest(given, names))
    return given


def _value(field: Any, text: str) -> Any:
    """Return the value of *field* as JSON has it."""
    if field.message_type:
        short = SHORT.get(field.message_type.full_name)
        if short is None:
            raise usage.wrong(f"one of {', '.join(f'{field.name}.{name}' for name in _names(field))}", field.name)
        return short(text)
    if field.enum_type:
        return _one_of(text.upper().replace("-", "_"), field.enum_type.values_by_name)
    if field.cpp_type == _Field.CPPTYPE_BOOL:
        return _one_of(text, ("true", "false")) == "true"
    return NUMBERS.get(field.cpp_type, str)(text)


def _names(field: Any) -> list[str]:
    return list(field.message_type.fields_by_name)


# Fields.


def document(called: rpc.Rpc, words: Iterable[str], secrets: str) -> rpc.Document:
    """
    Return the fields of *words* for a request of *called*.

    Raises `usage.UsageError` with all problems; it says *secrets* for a field that holds secrets, whose value it does
    not repeat.
    """
    found: rpc.Document = {}
    problems = []
    for word in words:
        name, equals, text = word.partition("=")
        try:
            if not equals:
                raise usage.wrong("FIELD=VALUE", word)
            _put(found, called.fields, name, text, secrets)
        except click.BadParameter as error:
            problems.append(errors.Problem(path=name if equals else "", got=error.message, allowed=""))
    usage.refuse(problems)
    return found


def _put(into: rpc.Document, fields: Mapping[str, Any], name: str, text: str, secrets: str) -> None:
    """Set the field with the dotted *name* in *into*. Raises `click.BadParameter`."""
    first, _, rest = name.partition(".")
    field = fields.get(first)
    if field is None:
        allowed = f"one of {', '.join(fields)}" if fields else "no fields: the request is empty"
        raise usage.wrong(allowed, first, usage.nearest(first, fields))
    if rpc.is_secret(field):
        raise click.BadParameter(secrets)
    if _is_map(field):
        if not rest:
            raise usage.wrong(f"{first}.KEY=VALUE", f"{first}=")
        into.setdefault(first, {})[rest] = text
    elif rest:
        if not field.message_type or field.is_repeated:
            raise usage.wrong(f"{first}=VALUE", name)
        _put(into.setdefault(first, {}), field.message_type.fields_by_name, rest, text, secrets)
    elif field.is_repeated:
        into.setdefault(first, []).append(_value(field, text))
    elif first in into:
        raise usage.wrong("it once", f"{first}={text}")
    else:
        into[first] = _value(field, text)


def _is_map(field: Any) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


# Completion.


def suggested(ctx: click.Context, _incomplete: str) -> Iterator[str]:
    """Yield completions of a field of the method in the command line."""
    called = rpc.RPCS.get(str(ctx.params.get("method", "")))
    if called:
        yield from _typed("", called.fields.values())


def _typed(prefix: str, fields: Iterable[Any]) -> Iterator[str]:
    for field in fields:
        name = f"{prefix}{field.name}"
        is_short = field.message_type is None or field.message_type.full_name in SHORT
        if rpc.is_secret(field):
            continue
        if _is_map(field):
            yield f"{name}."
        elif not is_short:
            yield from _typed(f"{name}.", field.message_type.fields)
        elif field.cpp_type == _Field.CPPTYPE_BOOL:
            yield from (f"{name}=true", f"{name}=false")
        elif field.enum_type:
            yield from (f"{name}={value}" for value in field.enum_type.values_by_name)
        elif field.message_type and field.message_type.full_name == "csi.v1.VolumeCapability":
            yield from (
                f"{name}={mode},{kind}" for mode in capability.MODES for kind in ("file-system", "block-device")
            )
        else:
            yield f"{name}="
