"""The provider plugin, for programs in other languages that name this folder as a package."""

import sys

from nomad_csi.provider import __main__

sys.exit(__main__.main())
