"""The worked examples of the spec's page."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[1] / "tests/pages/spec.md"

EXAMPLES = dict(re.findall(r"^### ([^\n]+)\n.*?^```yaml\n(.*?)^```$", _PAGE.read_text(), re.MULTILINE | re.DOTALL))
"""The specs by the titles of the examples."""
