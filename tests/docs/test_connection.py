"""docs/reference/connection.md: its table and policies are those of the code."""

import re
import shlex
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import command, inputs
from nomad_csi.nomad import connection
from nomad_csi.provider import configuration, settings

PAGE = (Path(__file__).parents[2] / "docs/reference/connection.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)][
    2:
]


def camel(name):
    """Return *name* as Pulumi writes it."""
    head, *rest = name.split("_")
    return head + "".join(map(str.title, rest))


def test_table_has_every_setting_by_its_names():
    """Option, provider argument, variable: in the order of the code."""
    made = command.command()(inputs.nomad_connection(lambda _: 0))
    options = {option.name: f"`{option.opts[0]}`" for option in made.params}

    told = {row[2].strip("`"): (row[0], row[1]) for row in ROWS}

    expected = {
        variable: (options.get(name), f"`{camel(name)}`{' (secret)' if camel(name) in configuration.SECRET else ''}")
        for name, variable in connection.VARIABLES.items()
    }
    assert set(told) == set(expected)
    assert {camel(name) for name in connection.VARIABLES} | {"root"} == {
        camel(name) for name in settings.ProviderSettings.model_fields
    }
    for variable, (option, argument) in expected.items():
        assert told[variable][1] == argument
        assert told[variable][0] == option or (option is None and told[variable][0].startswith("none"))


POLICIES = re.findall(
    r"^```sh\n(nomad-csi acl-policy [^\n]*)\n```\n\n```hcl\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("command", "policy"), POLICIES)
def test_policies_are_those_that_the_command_prints(command, policy, capsys):
    """Both of the page."""
    assert cli.main(shlex.split(command)[1:]) == 0

    assert capsys.readouterr().out == policy
    assert len(POLICIES) == 2
