"""What many tests share, such as a cluster with its plugins."""

import contextlib

import pytest

STARTS_MAX = 3
"""How often something shared is started that does not come up."""


class Shared:
    """
    What many tests share: started by the first that calls `get`, ended by `close`. *start* makes a context manager.

    Where it does not come up, the test that asked has the error, and the next one starts it anew. A fixture of pytest
    with a wide scope would keep the error, and raise it in every test.
    """

    def __init__(self, start):
        self._start = start
        self._left = STARTS_MAX
        self._stack = contextlib.ExitStack()
        self._made = []

    def get(self):
        """Return what is shared."""
        if not self._made:
            if not self._left:
                pytest.fail(f"it did not come up {STARTS_MAX} times; the tests before this one say why", pytrace=False)
            self._left -= 1
            self._made.append(self._stack.enter_context(self._start()))
        return self._made[0]

    def close(self):
        """End it."""
        self._stack.close()
