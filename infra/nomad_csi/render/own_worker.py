"""
``python -m nomad_csi.render.own_worker``: renders templates of an operator's own, within limits of the system.

Requests come on standard input, as `own` sends them: the working directory, folder, name and values, pickled, behind
their length. Each has a reply of one line of JSON: ``text``, or ``error`` and whether it was one of the limits, or
``problems`` and ``source`` of an `errors.SpecError`.
Source: getrlimit(2) and setrlimit(2), Linux man-pages 6.9.
"""

import contextlib
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
from dataclasses import asdict
from typing import Any

import jinja2

from nomad_csi import errors
from nomad_csi.render import own, own_templates

CPU_LIMIT_S = 3
"""Processor time for one file; one of ours takes a hundredth of a second."""

MEMORY_LIMIT_BYTES = 1 << 30
"""Address space of this process. Without a file, it takes a third of it."""


class TooLongError(jinja2.TemplateRuntimeError):
    """A template has used its processor time."""


_is_over = False
"""Whether the template that is rendered has used its processor time."""

_TOO_LONG = f"it takes more than {CPU_LIMIT_S} s of processor time: does it loop?"


def main() -> None:
    """Answer requests until there are none."""
    with contextlib.suppress(ValueError):  # macOS keeps no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    signal.signal(signal.SIGXCPU, _end)
    while size := sys.stdin.buffer.read(own.SIZE.size):
        base, folder, name, values = pickle.loads(sys.stdin.buffer.read(own.SIZE.unpack(size)[0]))  # noqa: S301  # our own
        os.chdir(base)
        _limit_time()
        reply = _reply(folder, name, values)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _limit_time() -> None:
    global _is_over  # noqa: PLW0603
    _is_over = False
    limit_s = math.ceil(time.process_time()) + CPU_LIMIT_S
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))


def _end(_number: int, _frame: Any) -> None:
    global _is_over  # noqa: PLW0603  # what handles the error may fail, too, and hide it
    _is_over = True
    raise TooLongError(_TOO_LONG)


def _reply(folder: Any, name: str, values: Any) -> dict[str, Any]:
    try:
        return {"text": own_templates.render(folder, name, values)}
    except errors.SpecError as error:
        return {"problems": [asdict(problem) for problem in error.problems], "source": error.source}
    except own.TemplateError as error:
        text = f"template {name}: {_TOO_LONG}" if _is_over and _TOO_LONG not in str(error) else str(error)
        return {"error": text, own.IS_WORN: _is_over or isinstance(error.__context__, MemoryError)}


if __name__ == "__main__":
    main()
