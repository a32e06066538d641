"""SIGTERM is an interrupt with an exit code of its own."""

import os
import signal

import pytest

from nomad_csi.cli.common import command


def test_sigterm_raises_in_the_block_and_nowhere_else():
    """Afterwards it is as it was before; a handler that is there already stays."""
    before = signal.getsignal(signal.SIGTERM)

    with command.terminated():
        ours = signal.getsignal(signal.SIGTERM)
        with command.terminated():
            pass
        assert signal.getsignal(signal.SIGTERM) is ours
    with pytest.raises(command.Terminated), command.terminated():
        os.kill(os.getpid(), signal.SIGTERM)

    assert before is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("first", [KeyboardInterrupt, command.Terminated])
def test_sigterm_does_not_end_what_an_interrupt_has_begun(first):
    """Nor where that handles an error of its own."""
    done = []

    def remove():
        try:
            int("no number")
        except ValueError:
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("removed")

    def interrupted():
        try:
            raise first
        finally:
            remove()

    with pytest.raises(first), command.terminated():
        interrupted()

    assert done == ["removed"]
