"""Real programs that tests look for. A skip names what is absent, and ``TEST_WITHOUT`` has the words of what may be."""

import os
import shutil

WITHOUT = "TEST_WITHOUT"
"""Variable with words; where it is set, a test may be skipped only where one of them is in the reason."""


def path_of(*names):
    """Return where the first of the programs *names* is that this machine has, servers among them; ``None``: nowhere."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin"))
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None)


def unwanted(reason):
    """Return whether a skip for *reason* is an error."""
    words = os.environ.get(WITHOUT)
    return words is not None and not any(word.lower() in reason.lower() for word in words.split())
