"""
Fields of a CSI request as they are typed, ``FIELD=VALUE``.

Sizes, capabilities and topologies have a short form. Everything else is checked by protobuf when it reads the request.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

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

_CAPABILITY, _TOPOLOGY = "csi.v1.VolumeCapability", "csi.v1.Topology"
_SIZE = re.compile(rf"(\d{{1,19}})\s*({'|'.join(UNITS)})", re.ASCII)


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
    if field.message_type and field.message_type.GetOptions().map_entry:
        if not rest:
            raise usage.wrong(f"{first}.KEY=VALUE", f"{first}=")
        into.setdefault(first, {})[rest] = text
    elif rest:
        if not field.message_type or field.is_repeated or not isinstance(into.setdefault(first, {}), dict):
            raise usage.wrong(f"{first}=VALUE", name)
        _put(into[first], field.message_type.fields_by_name, rest, text, secrets)
    elif field.is_repeated:
        into.setdefault(first, []).append(_value(field, text))
    elif first in into:
        raise usage.wrong("it once", f"{first}={text}")
    else:
        into[first] = _value(field, text)


def _value(field: Any, text: str) -> Any:
    """Return the value of *field* as JSON has it."""
    kind = field.message_type.full_name if field.message_type else ""
    if kind == _CAPABILITY:
        return _use(text)
    if kind == _TOPOLOGY:
        return {"segments": dict(_pair(part) for part in text.split(","))}
    if field.enum_type:
        return text.upper().replace("-", "_")
    if field.cpp_type == field.CPPTYPE_BOOL:
        return {"true": True, "false": False}.get(text, text)
    return _bytes(text) if field.cpp_type == field.CPPTYPE_INT64 else text


def _bytes(text: str) -> int:
    """Return the bytes of ``1073741824`` or ``10GiB``; decimal units are refused, as few storage has such sizes."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise usage.wrong(f"bytes, or a number with {', '.join(filter(None, UNITS))}, such as 10GiB", text)
    return int(found[1]) * UNITS[found[2]]


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise usage.wrong("KEY=VALUE[,KEY=VALUE...]", text)
    return key, value


def _use(given: str) -> dict[str, Any]:
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


def suggested(ctx: click.Context, _incomplete: str) -> Iterator[str]:
    """Yield completions of a field of the method in the command line."""
    called = rpc.RPCS.get(str(ctx.params.get("method", "")))
    for field in called.fields.values() if called else ():
        has_parts = field.message_type and field.message_type.full_name not in {_CAPABILITY, _TOPOLOGY}
        if not rpc.is_secret(field):
            yield f"{field.name}{'.' if has_parts else '='}"
