"""Real programs that tests look for on PATH, and what a skip for want of one is worth."""

import os
import shutil

NAMES = (
    "nomad",
    "pulumi",
    "pulumi-language-python",
    "pulumi-language-yaml",
    "pulumi-language-nodejs",
    "node",
    "npm",
    "pulumi-language-go",
    "go",
    "aws-ebs-csi-driver",
    "aws-efs-csi-driver",
    "mount.efs",
    "efs-proxy",
    "exportfs",
    "gcp-compute-persistent-disk-csi-driver",
    "do-csi-plugin",
    "hostpathplugin",
    "nfsplugin",
    "democratic-csi",
    "rsync",
    "mariadbd",
    "docker",
    "promtool",
)

WITHOUT = "TEST_WITHOUT"
"""Variable with words; where it is set, a test may be skipped only where one of them is in the reason."""

SOAK = "a part of `make soak`"
"""In the reason of tests that no other run is to take."""


def unwanted(reason):
    """Return whether a skip for *reason* is an error."""
    words = os.environ.get(WITHOUT)
    return words is not None and not any(word.lower() in reason.lower() for word in (SOAK, *words.split()))


def told():
    """Say which were found, and which were not."""
    found = {name: shutil.which(name) for name in NAMES}
    absent = ", ".join(name for name, path in found.items() if not path)
    return f"found: {', '.join(path for path in found.values() if path) or 'none'}; not on PATH: {absent or 'none'}"
