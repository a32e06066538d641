"""Errors in a user's own program: a refusal, or a failed resource, is one error without a traceback."""

import functools
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.text import foreign

LANGUAGE_HOST = "pulumi-language-python-exec"
"""
The script in which Pulumi's engine runs a Python program; `sys.argv` is that of the program by then.

Source: pulumi/pulumi, ``sdk/python/cmd/pulumi-language-python-exec``, 2026-08: it prints a `pulumi.RunError` as it is,
and every other exception with its traceback.
"""


class ProgramError(errors.NomadCsiError, pulumi.RunError):
    """
    Why a component was not declared, or what is wrong with an output in its arguments.

    It is no `ValueError`: the SDK puts the steps on the way to a resource in front of the text of these.
    Source: pulumi SDK 3.272, ``pulumi/runtime/rpc.py``, ``serialize_properties``.
    """


class Component(pulumi.ComponentResource):
    """A component whose constructor raises what Pulumi prints without a traceback."""

    def __init_subclass__(cls, **settings: Any) -> None:
        """Wrap the constructor of the subclass."""
        super().__init_subclass__(**settings)
        cls.__init__ = _described(cls.__init__)  # type: ignore[method-assign]


def _described(constructor: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(constructor)
    def construct(self: Any, *arguments: Any, **named: Any) -> None:
        end_quietly()
        try:
            constructor(self, *arguments, **named)
        except errors.NomadCsiError as error:
            if not is_program():
                raise
            raise ProgramError(foreign.visible(str(error))) from error

    return construct


def end_quietly() -> None:
    """
    Let SIGINT end a program that Pulumi's engine runs, unless the program handles it.

    The engine sends it when a resource fails, and has said why; Python would print a traceback.
    """
    if is_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def is_program() -> bool:
    """Return whether this process is a Python program that Pulumi's engine runs, and not the provider or a test."""
    return LANGUAGE_HOST in (Path(word).name for word in sys.orig_argv)
