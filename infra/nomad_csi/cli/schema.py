"""``nomad-csi schema``."""

import json

from nomad_csi.cli.common import codes, command
from nomad_csi.spec import reference, schema


@command.command()
@codes.docs("docs/spec.md: every key in tables, and examples")
def run(arguments: command.Arguments) -> int:
    """Print the JSON schema, or the page."""
    text = reference.page() if arguments.docs else json.dumps(schema.document(), indent=2, ensure_ascii=False)
    print(text.rstrip("\n"))
    return 0
