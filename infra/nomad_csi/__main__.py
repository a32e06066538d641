"""``python -m nomad_csi``."""

import sys

from nomad_csi import cli

sys.exit(cli.main())
