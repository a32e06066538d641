"""
The example of each component: one set of arguments, written in four languages, a block of each and a whole program.

The package schema and the page of the components show the blocks; the tests of the SDKs compile the programs.
"""

import json
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from pulumi.provider.experimental import util


class Output(NamedTuple):
    """An output of another component, as an argument of an example."""

    of: str
    name: str


PLUGIN = Output("plugin", "plugin_id")
FILE_SYSTEM = {
    "mount_targets": [{"availability_zone": "us-east-1a", "subnet_id": "subnet-0123456789abcdef0"}],
    "clients": {"cidr_blocks": ["10.0.0.0/16"]},
}
EXAMPLES = {
    "CsiPlugin": ("plugin", {"driver": "aws-ebs", "aws_region": "us-east-1"}),
    "EbsVolume": ("mysql", {"plugin_id": PLUGIN, "availability_zone": "us-east-1a", "size_gib": 40}),
    "EfsVolume": ("shared", {"plugin_id": "aws-efs0", **FILE_SYSTEM}),
    "EfsFileSystem": ("files", FILE_SYSTEM),
    "ExistingVolume": (
        "legacy",
        {
            "plugin_id": PLUGIN,
            "driver": "aws-ebs",
            "external_id": "vol-0123456789abcdef0",
            "availability_zone": "us-east-1a",
        },
    ),
    "CsiVolume": (
        "scratch",
        {"plugin_id": PLUGIN, "driver": "aws-ebs", "availability_zone": "us-east-1a", "capacity_min_gib": 10},
    ),
    "EbsSnapshots": ("nightly", {"at": "04:30", "keep": 7}),
    "EfsBackups": ("backups", {"file_system_arns": [Output("shared", "file_system_arn")], "keep_days": 35}),
}
"""Name and arguments of the example of each component, for all languages."""


class Language(NamedTuple):
    """How a language writes an example."""

    name: str
    block: str
    """One component, with ``{label}``, ``{kind}`` and its ``{arguments}``."""
    argument: str
    """One argument, with ``{key}`` and ``{value}``."""
    key: Callable[[str], str]
    """The name of an argument or output."""
    output: str
    """An output, with ``{label}`` and ``{key}``."""
    table: str
    """A value with fields, with ``{fields}``."""
    field: Callable[[str], str]
    """The name of a field of it."""
    program: str
    """A whole program, with the names of the components in ``{kinds}``, and ``{blocks}``."""
    indent: str
    """What stands before each line of a block in it."""
    after: str = ""
    """What stands after a block in it, with ``{label}``."""


def _capital(name):
    camel = util.camel_case(name)
    return camel[0].upper() + camel[1:]


LANGUAGES = (
    Language(
        name="python",
        block='{label} = {kind}(\n    "{label}",\n{arguments}\n)\n',
        argument="    {key}={value},",
        key=str,
        output="{label}.{key}",
        table="{{{fields}}}",
        field=json.dumps,
        program="from nomad_csi import {kinds}\n\n{blocks}",
        indent="",
    ),
    Language(
        name="typescript",
        block='const {label} = new {kind}("{label}", {{\n{arguments}\n}});\n',
        argument="    {key}: {value},",
        key=util.camel_case,
        output="{label}.{key}",
        table="{{ {fields} }}",
        field=util.camel_case,
        program='import {{ {kinds} }} from "nomad-csi";\n\n{blocks}',
        indent="",
    ),
    Language(
        name="yaml",
        block="{label}:\n  type: nomad-csi:index:{kind}\n  properties:\n{arguments}\n",
        argument="    {key}: {value}",
        key=util.camel_case,
        output='"${{{label}.{key}}}"',
        table="{{{fields}}}",
        field=util.camel_case,
        program="name: examples\nruntime: yaml\nresources:\n{blocks}",
        indent="  ",
    ),
    Language(
        name="go",
        block='{label}, err := nomadcsi.New{kind}(ctx, "{label}", &nomadcsi.{kind}Args{{\n{arguments}\n}})\n',
        argument="\t{key} {value},",
        key=_capital,
        output="{label}.{key}",
        table="{{{fields}}}",
        field=_capital,
        program="""package main

import (
\t"example.com/pulumi-nomad-csi/sdk/go/nomadcsi"

\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {{
\tpulumi.Run(func(ctx *pulumi.Context) error {{
{blocks}\t\treturn nil
\t}})
}}
""",
        indent="\t\t",
        after='if err != nil {{\n\treturn err\n}}\nctx.Export("{label}", {label}.URN())\n',
    ),
)
_GO = {"string": "String", "integer": "Int", "number": "Float64", "boolean": "Bool"}


def blocks(kind, package):
    """Yield the example of the component *kind* of the schema *package* as a block of Markdown for each language."""
    for language in LANGUAGES:
        yield f"```{language.name}\n{_block((kind, *EXAMPLES[kind]), language, package)}```\n"


def section(kind, package):
    """
    Return the examples as part of a description in the schema.

    Source: Package schema, https://www.pulumi.com/docs/iac/using-pulumi/pulumi-packages/schema, "Examples".
    """
    shown = "\n".join(blocks(kind, package))
    return "\n".join(
        ("{{% examples %}}", "## Example Usage", "{{% example %}}", shown + "{{% /example %}}", "{{% /examples %}}")
    )


def program(language, package, parts=()):
    """Return a program in *language* with *parts*, or the examples of all components of the schema *package*."""
    parts = parts or [(kind, *example) for kind, example in EXAMPLES.items()]
    blocks = (_block(part, language, package) + language.after.format(label=part[1]) for part in parts)
    indented = (textwrap.indent(block, language.indent, lambda _: True) for block in blocks)
    kinds = ", ".join(sorted({kind for kind, _, _ in parts}))
    return language.program.format(kinds=kinds, blocks="".join(indented))


def _block(part, language, package):
    kind, label, args = part
    typed = package["resources"][f"nomad-csi:index:{kind}"]["inputProperties"]
    keys = {name: language.key(name) for name in args}
    if language.name == "go":
        width = max(map(len, keys.values())) + 1
        keys = {name: f"{key}:".ljust(width) for name, key in keys.items()}
    values = {}
    for name, value in args.items():
        type_of = typed[util.camel_case(name)]
        is_pointer = language.name == "go" and type_of.get("plain") and isinstance(value, dict)
        values[name] = ("&" if is_pointer else "") + _written(value, language, type_of, package["types"])
    lines = (language.argument.format(key=keys[name], value=value) for name, value in values.items())
    return language.block.format(label=label, kind=kind, arguments="\n".join(lines))


def _written(value, language, typed, types):
    """Return *value* as *language* writes it; *typed* is its type in the schema, which Go names."""
    if isinstance(value, Output):
        return language.output.format(label=value.of, key=language.key(value.name))
    go = language.name == "go"
    if isinstance(value, list):
        items = ", ".join(_written(item, language, typed["items"], types) for item in value)
        return f"{_go_list(typed)}{{{items}}}" if go else f"[{items}]"
    if isinstance(value, dict):
        kind = typed["$ref"].rpartition("/")[2]
        fields = types[kind]["properties"]
        entries = (
            f"{language.field(key)}: {_written(item, language, fields[util.camel_case(key)], types)}"
            for key, item in value.items()
        )
        written = language.table.format(fields=", ".join(entries))
        return f"{_go_name(kind)}Args{written}" if go else written
    scalar = repr(value) if language.name == "python" and isinstance(value, bool) else json.dumps(value)
    return scalar if not go or typed.get("plain") else f"pulumi.{_GO[typed['type']]}({scalar})"


def _go_name(kind):
    return f"nomadcsi.{kind.rpartition(':')[2]}"


def _go_list(typed):
    """Return the type of a list in Go."""
    item = typed["items"]
    if "$ref" not in item:
        return f"pulumi.{_GO[item['type']]}Array"
    name = _go_name(item["$ref"])
    return f"[]{name}Args" if typed.get("plain") else f"{name}Array"
