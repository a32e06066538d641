"""Each call that is made of Nomad: the request, its time limit, and the whole result."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pydantic
import pytest
import yaml

from nomad_csi import nomad
from nomad_csi.nomad import transport
from tests import tables

FILE = Path(__file__).with_name("calls.yaml")
ROWS = tables.load(FILE)


def called(row):
    """Return what a call sends, and its result."""
    sent, replies = [], iter(row["replies"])

    def exchange(_transport, call, target, content, timeout_s):
        sent.append([call.method, target, content and json.loads(content), timeout_s])
        reply = next(replies)
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return transport.Answer(status=200, headers={}, content=text.encode())

    module, name = row["call"].split(".")
    function = getattr(importlib.import_module(f"nomad_csi.nomad.{module}"), name)
    with mock.patch.object(transport.Transport, "exchange", exchange), nomad.Nomad(nomad.Connection()) as client:
        found = pydantic.validate_call(function, config={"arbitrary_types_allowed": True})(client, **row["given"])
        found = list(found) if isinstance(found, Iterator) else found
    return {"sent": sent, "result": pydantic.TypeAdapter(object).dump_python(found, mode="json")}


def main():
    """Write what is sent, and the results."""
    rows = [{key: row[key] for key in ("call", "given", "replies")} | called(row) for row in ROWS]
    text = yaml.safe_dump(rows, sort_keys=False, width=200, default_flow_style=None)
    head, _, _ = FILE.read_text(encoding="utf-8").partition("\n\n")
    FILE.write_text(f"{head}\n\n{text}", encoding="utf-8")


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['call']} {number}") for number, row in enumerate(ROWS)])
def test_call_sends_and_returns_what_is_recorded(row):
    """With values that differ from each other and from every default."""
    assert called(row) == {"sent": row["sent"], "result": row["result"]}


if __name__ == "__main__":
    main()
