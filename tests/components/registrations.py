"""
What the engine is told of each resource of a spec, whole: inputs, options, and what providers are asked.

`registrations.yaml` has specs with what they register. After a change that is meant, it is written again by
``python -m tests.components.registrations``; the difference is what a reader of the change looks at.
"""

import hashlib
import json
import re
from pathlib import Path
from unittest import mock

import pulumi
import yaml
from google.protobuf import json_format
from pulumi.runtime import mocks, settings

from nomad_csi import testing
from nomad_csi.components import stack
from tests import tables

FILE = Path(__file__).with_name("registrations.yaml")

HEAD = """\
# Specs, and what the engine is told of each of their resources. Written by `python -m tests.components.registrations`.
"""

OPTIONS = (
    "type",
    "name",
    "parent",
    "protect",
    "provider",
    "providers",
    "aliases",
    "importId",
    "ignoreChanges",
    "replaceOnChanges",
    "deleteBeforeReplace",
    "retainOnDelete",
    "deletedWith",
    "additionalSecretOutputs",
    "customTimeouts",
)
"""Fields of a request that are shown as they are: what a program decides, and not what the SDK adds."""

OWN_URN = re.compile(r"urn:pulumi:prod::storage::(?:[^:\"]+:[^:\"]+:[^:\"$]+\$)*(?:nomad-csi:index:)?")
STATE = "pulumi:pulumi:readStackResourceOutputs"
SECRET = "4dabf18193072939515e22adb298388d"


def _told_apart(value, texts):
    """Return *value* with the digest instead of each text of several lines, which *texts* gets: many occur twice."""
    if isinstance(value, dict):
        return {key: _told_apart(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [_told_apart(each, texts) for each in value]
    if not isinstance(value, str) or "\n" not in value:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()[:12]
    texts[digest] = value
    return f"text {digest}"


def _short(value):
    """Return *value* as plain data: URNs of this stack without their beginning, secrets below ``secret``."""
    text = OWN_URN.sub("", json.dumps(value, sort_keys=True))
    return json.loads(text, object_hook=lambda found: {"secret": found["value"]} if SECRET in found else found)


def _resource(request):
    told = json_format.MessageToDict(request)
    shown = {key: told[key] for key in OPTIONS if key in told}
    shown["dependencies"] = sorted(request.dependencies)
    if request.custom:  # a component has its arguments as inputs, whatever becomes of them
        shown["inputs"] = told.get("object", {})
        waits = {key: sorted(each["urns"]) for key, each in told.get("propertyDependencies", {}).items() if each}
        shown |= {"inputsFrom": waits} if waits else {}
    return shown


def of(spec):
    """Return what the ready stack with *spec* registers, and what it asks: sorted by type and name."""
    resources, questions, own = [], [], testing.Mocks({STATE: {"outputs": {}}})
    register, invoke = mocks.MockMonitor.RegisterResource, mocks.MockMonitor.Invoke

    def record(self, request):
        if self.mocks is own:  # a thread of a program that ended before may still register
            resources.append(_resource(request))
        return register(self, request)

    def record_question(self, request):
        told = json_format.MessageToDict(request)
        if self.mocks is own:
            questions.append({key: told[key] for key in ("tok", "args", "provider") if key in told})
        return invoke(self, request)

    with (
        mock.patch.object(mocks.MockMonitor, "RegisterResource", record),
        mock.patch.object(mocks.MockMonitor, "Invoke", record_question),
    ):
        settings.set_root_resource(None)  # that of another program in this process
        pulumi.runtime.set_mocks(own, project="storage", stack="prod", preview=False)
        pulumi.runtime.set_all_config({"storage:storage": json.dumps(spec), "storage:renderTo": "out"}, [])
        try:
            pulumi.runtime.test(lambda: stack.declare(pulumi.Config()))()
        finally:
            pulumi.runtime.set_all_config({}, [])
    texts = {}
    found = {
        "resources": sorted((made for made in resources if made["type"] != "pulumi:pulumi:Stack"), key=_order),
        "questions": sorted(questions, key=_order),
    }
    return _told_apart(_short(found), texts) | {"texts": dict(sorted(texts.items()))}


def _order(value):
    return value.get("type", ""), value.get("name", ""), json.dumps(value, sort_keys=True)


def read():
    """Return the cases of the file, by name: a spec, and what it registers."""
    return tables.load(FILE)


class Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""

    def ignore_aliases(self, _data):
        return True


def _text(dumper, value):
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Dumper.add_representer(str, _text)


def main():
    """Write the file again."""
    cases = {name: {"spec": case["spec"], **of(case["spec"])} for name, case in read().items()}
    FILE.write_text(
        HEAD + yaml.dump(cases, Dumper=Dumper, sort_keys=False, width=120, default_flow_style=None), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
