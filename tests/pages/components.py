"""
The page of the components: from the package schema, and from what the components and resources decide.

What a change of an argument does is not written down anywhere: each argument is declared once with an unknown value,
and the resources that it reaches say what they do with it. Run as a program, it prints the page: it sets the mocks of
Pulumi, which no other test should see.
"""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pulumi
from pulumi.output import UNKNOWN, Unknown
from pulumi.runtime import mocks, rpc

from nomad_csi import components, testing
from nomad_csi.components import argument_classes, arguments
from nomad_csi.frame import registry, resource
from nomad_csi.provider import hosting
from nomad_csi.spec import names
from nomad_csi.volumes import desired, volume_properties
from nomad_csi_sandbox.aws.provider import table as aws_table
from nomad_csi_sandbox.engine import values
from tests.components import test_outputs_everywhere as everywhere
from tests.pages import escaped, table
from tests.schema import examples, stubs

ROOT = Path(__file__).parents[2]
INTRODUCTION = """# Components

Each component with its arguments, its outputs and what it creates. Names are Python's; in TypeScript, YAML and Go they
are in camelCase. Instead of a value, every argument takes an output, but for those that are marked *plain*, with the
reason. The [spec](spec.md) has the fields of the parts, such as `iam` or `mount_options`. An argument has a link of its
own: `#ebsvolume-size_gib`. [Topologies](topologies.md) are whole programs to copy.

**A change** says what `pulumi up` does to the resources when the argument changes. *In place*: the object stays.
*Registered again*: the volume is deregistered and registered again, which is refused while it is claimed; the storage
stays. *Replaced*: a new object takes its place. *Refused while protected*: `protect` keeps the data, so the change is
refused until `protect` is false; where the value before and after is the same data, nothing is refused. More in
[changes of a registration](comparison.md) and [programs in other languages](../howto/languages.md).
"""


_KNOWN = {
    "plugin_id": "plugin",
    "file_system_arn": "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0",
}


def page():
    """Return the page, from a process of its own."""
    words = [sys.executable, "-m", "tests.pages.components"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def lines():
    """Yield the lines of the page."""
    schema = json.loads(hosting.Hosted().schema)
    yield INTRODUCTION
    for kind in components.COMPONENTS:
        name = kind.__name__
        found = schema["resources"][f"nomad-csi:index:{name}"]
        base, creates = _declared(kind, _plain(examples.EXAMPLES[name][1])), set()
        given = sorted(found["inputProperties"].items(), key=lambda pair: pair[0] not in found["requiredInputs"])
        rows = [_row(kind, names.python_name(key), item, schema["types"], base, creates) for key, item in given]
        yield f"## `{name}`\n\n{found['description'].partition('{{% examples')[0].strip()}\n"
        yield from examples.blocks(name, schema)
        made = ", ".join(f"`{token}`" for token in sorted({*creates, *(key[0] for key in base)}))
        yield f"Creates: {made}. [AWS permissions](permissions.md).\n"
        yield from table(("argument", "type", "default", "meaning", "a change"), rows)
        yield from table(
            ("output", "meaning"),
            (
                (f"`{names.python_name(key)}`", escaped(item["description"]))
                for key, item in found["properties"].items()
            ),
        )


def _row(kind, argument, described, types, base, creates):
    field = argument_classes.fields(f"{kind.__name__}Args")[argument][0]
    default = field.default
    text = escaped(described["description"].split(" Default: ``")[0].split(" No output: ")[0])
    if argument in arguments.PLAIN:
        text += f" *Plain*: {arguments.PLAIN[argument]}."
    change = "" if argument in arguments.PLAIN else _change(kind, argument, base, creates)
    shown = (
        "-"
        if default is None or default in ((), "") or not isinstance(default, str | int | float)
        else f"`{json.dumps(default)}`"
    )
    typed = stubs.argument(described, types, given="Input", quoted=repr)
    anchor = f'<a id="{kind.__name__.lower()}-{argument}"></a>`{argument}`'
    return anchor, f"`{typed}`", "required" if field.is_required() else shown, text, change or "-"


def _change(kind, argument, base, creates):
    """Return what a change of *argument* does to the resources that it reaches."""
    known, args = base, _plain(examples.EXAMPLES[kind.__name__][1])
    if argument not in args:
        if f"{kind.__name__} {argument}" in everywhere.IMPOSSIBLE:
            return f"cannot be given: {everywhere.IMPOSSIBLE[f'{kind.__name__} {argument}']}"
        args = everywhere.CASES[kind, argument][0]
        known = _declared(kind, args)
    found = _declared(kind, {**args, argument: pulumi.Output.from_input(UNKNOWN)})
    creates |= {token for token, _ in known}
    said = {}
    for key, (inputs, is_protected) in known.items():
        after = found.get(key, (None, False))[0]
        reached = [name for name in after or () if _unknowns(after[name]) > _unknowns(inputs.get(name))]
        if reached and "RenderedFile" not in key[0]:
            said.setdefault(_manner(key[0], inputs, reached, is_protected), set()).add(key[0].rpartition(":")[2])
    return "; ".join(f"{', '.join(sorted(names))}: {manner}" for manner, names in sorted(said.items()))


def _unknowns(value):
    """Return how many leaves of *value* are unknown."""
    if isinstance(value, dict):
        return sum(map(_unknowns, value.values()))
    return sum(map(_unknowns, value)) if isinstance(value, list) else isinstance(value, Unknown)


def _reregistration(old, new):
    """Return the change of a registration between two sets of inputs."""
    before, after = (desired.of_properties(volume_properties.REGISTRATION, item) for item in (old, new))
    return desired.classify(before, after)


def _marked(value):
    """Return *value* as the provider has it: with its mark of what is unknown, and without that of a secret."""
    if isinstance(value, dict):
        is_secret = "4dabf18193072939515e22adb298388d" in value
        return _marked(value["value"]) if is_secret else {name: _marked(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return resource.UNKNOWN if isinstance(value, Unknown) else value


def _manner(token, inputs, reached, is_protected):
    """Return what the resource of type *token* does when its properties *reached* change, by its own decision."""
    if token in aws_table.ROWS:
        is_replaced = bool(set(reached) & aws_table.ROWS[token].fixed)
        return _replaced(is_protected) if is_replaced else "in place"
    old = {name: value for name, value in _marked(inputs).items() if not values.has_unknown(value)}
    new = old | dict.fromkeys(reached, resource.UNKNOWN)
    same, found = (registry.find(token).diff("default/x", old, old, inputs) for inputs in (old, new))
    if found.replaces:
        return _replaced(is_protected)
    if found.updates == same.updates:
        return "no change"
    if token.endswith(":PluginHealth"):
        return "verified again"
    if not token.endswith(":VolumeRegistration"):
        return "in place"
    change = _reregistration(old, new)
    manner = "registered again" if change.kind == "re-register" else "in place"
    return manner if change.storage == "same" else f"{manner} (refused while protected)"


def _replaced(is_protected):
    return "replaced (refused while protected)" if is_protected else "replaced"


def _declared(kind, args):
    """Return the inputs of each resource of a component, in a preview, and whether it is protected, by type and name."""
    made = {}
    register = mocks.MockMonitor.RegisterResource

    def record(self, request):
        if request.custom:
            made[request.type, request.name] = (
                rpc.deserialize_properties(request.object, keep_unknowns=True),
                request.protect,
            )
        return register(self, request)

    mocks.MockMonitor.RegisterResource = record
    try:
        pulumi.runtime.set_mocks(testing.Mocks(), project="storage", stack="prod", preview=True)
        with contextlib.redirect_stdout(sys.stderr):
            pulumi.runtime.test(lambda: kind("data", args) and None)()
    finally:
        mocks.MockMonitor.RegisterResource = register
    return {key: item for key, item in made.items() if "StackIdentity" not in key[0]}


def _plain(value):
    if isinstance(value, examples.Output):
        return _KNOWN[value.name]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()))
