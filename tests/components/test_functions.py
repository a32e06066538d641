"""Functions of the engine and of the provider: asked again while the state is written, refused in one line."""

import asyncio
import contextlib

import pulumi
import pytest

from nomad_csi.components import functions

HEAD = "invoke of a:b:c failed: invocation of a:b:c returned an error: "
WRITING = f"{HEAD}failed to load checkpoint: EOF"
REFUSED = "GET /v1/var/nomad-csi/cluster: http://127.0.0.1:1: no connection: Connection refused"


@pytest.fixture
def ask(monkeypatch):
    """Ask a function that fails with *texts* first: ``ask(texts)`` returns the answer and the number of attempts."""
    monkeypatch.setattr(functions, "WAIT_S", 0.0)

    def asked(texts):
        attempts = iter([*texts, ""])
        made = []

        async def attempt(*_):
            made.append(1)
            if text := next(attempts):
                raise Exception(text)  # noqa: TRY002  # the class that the SDK raises
            return {"id": "x"}

        monkeypatch.setattr(pulumi.runtime, "invoke_async", attempt)
        with contextlib.closing(asyncio.new_event_loop()) as loop:  # asyncio.run() takes the thread's own loop away
            return loop.run_until_complete(functions._awaited("a:b:c", {}, None)), len(made)

    return asked


def test_answer_is_asked_for_again_while_the_state_is_written(ask):
    """A file that the engine has begun to write reads as cut off."""
    assert ask([WRITING, WRITING]) == ({"id": "x"}, 3)


@pytest.mark.parametrize("head", [HEAD, "invoke of a:b:c failed: "], ids=["real engine", "emulator"])
def test_refusal_is_one_line(ask, head):
    """Without the SDK's words before it; the program ends with it, and with no traceback."""
    with pytest.raises(pulumi.RunError) as caught:
        ask([f"{head}{REFUSED}"])

    assert str(caught.value) == ("GET /v1/var/nomad-csi/cluster: http://127.0.0.1:1: no connection: Connection refused")


def test_attempts_come_to_an_end(ask):
    """A state that cannot be read at all is said to be so."""
    with pytest.raises(pulumi.RunError, match=r"^failed to load checkpoint: EOF$"):
        ask([WRITING] * functions.ATTEMPTS)
