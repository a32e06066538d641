"""The command in this process, with standard output and standard error as a process of its own has them."""

import contextlib
import io
import os

from nomad_csi import cli


def run(words, output, encoding="utf-8"):
    """
    Return exit code and standard error of the command, whose standard output is the descriptor *output*.

    Both streams are closed afterwards, as they are when a process ends: what is still to be written is written then.
    """
    own = io.TextIOWrapper(os.fdopen(os.dup(output), "wb"), encoding=encoding)
    said = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with own, said, contextlib.redirect_stdout(own), contextlib.redirect_stderr(said):
        code = cli.main(words)
        said.flush()
        return code, said.buffer.getvalue().decode()


def closed(words):
    """Return what `run` does where nobody reads the output."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run(words, writer)
    finally:
        os.close(writer)


def written(words, file, encoding="utf-8"):
    """Return what `run` does, and what was written, into a file."""
    with file.open("wb") as output:
        code, said = run(words, output.fileno(), encoding)
    return code, said, file.read_bytes()
