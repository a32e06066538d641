"""The provider plugin, for programs in other languages that name this folder as a package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Pulumi installs requirements.txt, not the package

from nomad_csi.provider import __main__

sys.exit(__main__.main())
