"""A command of the sandbox ends itself: the signals are its own."""

import os
import signal
import sys
import threading

from nomad_csi_sandbox.session import foreground

READY = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); open(sys.argv[1], 'w').close(); signal.pause()"


def test_sigterm_is_passed_on_and_the_command_ends_in_its_own_way(tmp_path):
    """It is neither killed nor left alone; its exit code is the answer."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)

    def terminate():
        ready.open().close()  # returns once the command has opened it
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=terminate)
    before = signal.getsignal(signal.SIGTERM)
    thread.start()

    code = foreground.run([sys.executable, "-c", READY, str(ready)], os.environ)

    thread.join()
    assert code == 7
    assert signal.getsignal(signal.SIGTERM) is before


def test_interrupt_is_answered_by_the_command_and_said_once(capfd):
    """However often it comes; a command that was not interrupted has no such line, nor one that succeeded all the same."""
    ask = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); [os.kill(os.getppid(), 2) for _ in 'ab']"

    code = foreground.run(
        [sys.executable, "-c", f"{ask}; exit(3)"], os.environ, interrupted="interrupted; nothing was changed"
    )
    for command in ("", ask):
        foreground.run([sys.executable, "-c", command], os.environ, interrupted="never")

    assert (code, capfd.readouterr().out) == (3, "interrupted; nothing was changed\n")
