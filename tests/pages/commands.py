"""The page of every command with every option, from the command line itself."""

import click

from nomad_csi import cli
from nomad_csi.cli.common import command
from tests.pages import escaped, table

HEAD = """# Every command and option

`nomad-csi COMMAND --help` prints the same. How to name a volume, exit codes and completion are on the page
[command line](commands.md)."""


def page():
    """Return the page: a chapter for each section of the help, then the connection."""
    context = click.Context(cli.PROGRAM, info_name=cli.NAME)
    parts, connection = [HEAD], {}
    for title, names in cli.SECTIONS.items():
        parts.append(f"## {title.capitalize()}")
        for name in names:
            for path, each in _leaves((name,), cli.PROGRAM.get_command(context, name)):
                parts.append("\n".join(_entry(path, each, connection)).rstrip())
    parts.append("## Connection options\n\n" + "\n".join(table(("option", "meaning"), connection.items())))
    return "\n\n".join(parts)


def _leaves(path, found):
    """Yield *found* if it is a command, and the commands below it."""
    if not isinstance(found, click.Group):
        yield path, found
    for name, inner in getattr(found, "commands", {}).items():
        if not inner.hidden:
            yield from _leaves((*path, name), inner)


def _entry(path, found, connection):
    """Yield the lines of one command; its options for the connection go into *connection*."""
    context = click.Context(found, info_name=f"{cli.NAME} {' '.join(path)}")
    yield f"### `{' '.join(path)}`\n"
    yield f"{escaped(' '.join((found.help or '').split()))}\n"
    yield f"```text\n{' '.join([context.info_name, *found.collect_usage_pieces(context)])}\n```\n"
    rows = []
    for each in found.params:
        record = each.get_help_record(context)
        if not record or getattr(each, "section", None) == command.SHARED:
            continue
        shown = f"`{record[0]}`", escaped(record[1])
        if getattr(each, "section", None) == command.CONNECTION:
            connection.setdefault(*shown)
        else:
            rows.append(shown)
    if rows:
        yield from table(("argument or option", "meaning"), rows)
    if any(getattr(each, "section", None) == command.CONNECTION for each in found.params):
        yield "It also has the [connection options](#connection-options).\n"
