"""``python -m nomad_csi.cli``."""

import sys

from nomad_csi import cli

sys.exit(cli.main())
