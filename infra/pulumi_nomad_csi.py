"""
The names of `nomad_csi`, where code that ``pulumi import`` prints looks for them.

Pulumi writes code for the SDK that ``pulumi package add`` generates, a package of this name; where one is installed,
Python finds it before this module. Source: Python's "The Module Search Path", `importlib.machinery.FileFinder`.
"""

from nomad_csi import *  # noqa: F403
