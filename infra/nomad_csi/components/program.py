"""
The base class of components, their names in the stack, and errors in a user's own program.

A refusal, or a failed resource, is one error without a traceback.
"""

import dataclasses
import functools
import re
import signal
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pulumi
from pydantic import alias_generators

from nomad_csi import errors
from nomad_csi.components import declared_resource, documentation, scope
from nomad_csi.text import foreign

LANGUAGE_HOST = "pulumi-language-python-exec"
"""
The script in which Pulumi's engine runs a Python program; `sys.argv` is that of the program by then.

Source: pulumi/pulumi, ``sdk/python/cmd/pulumi-language-python-exec``, 2026-08.
"""


class ArgumentError(errors.SpecError, pulumi.RunError):
    """Wrong arguments of a component. Pulumi prints a `pulumi.RunError` as it is, and others with their traceback."""

    def __str__(self) -> str:
        """Return the message, which may hold a name of the user's, without control characters."""
        return foreign.visible(super().__str__())


class ProgramError(errors.NomadCsiError, pulumi.RunError):
    """
    Why a component was not declared for another reason, or what is wrong with an output in its arguments.

    It is no `ValueError`: the SDK puts the steps on the way to a resource in front of the text of these.
    Source: pulumi SDK 3.272, ``pulumi/runtime/rpc.py``, ``serialize_properties``.
    """


def argument_error(error: errors.SpecError) -> ArgumentError:
    """Return *error* of arguments that are known at once."""
    return ArgumentError(_as_written(error.problems), error.source, error.ids)


def late_error(error: errors.NomadCsiError) -> ProgramError:
    """Return *error* of an output in arguments, or of a component that is not declared for another reason."""
    shown = (
        errors.SpecError(_as_written(error.problems), error.source) if isinstance(error, errors.SpecError) else error
    )
    return ProgramError(foreign.visible(str(shown)))


_PYTHON_NAME = re.compile("[a-z]+(?:_[a-z0-9]+)+")


def _as_written(problems: tuple[errors.Problem, ...]) -> tuple[errors.Problem, ...]:
    """Return *problems* with arguments named as the program has them: ``sizeGib`` in other languages than Python."""
    if not scope.scope().is_hosted:
        return problems
    known = documentation.schema_names()

    def named(text: str) -> str:
        return _PYTHON_NAME.sub(lambda match: known.get(match[0], match[0]), text)

    return tuple(
        dataclasses.replace(item, path=named(item.path), allowed=named(item.allowed), fix=named(item.fix))
        for item in problems
    )


class Planned(dict[str, Any]):
    """Arguments of a component, and the plan that was made of them, for storage at *path* of the stack's spec."""

    def __init__(self, arguments: Mapping[str, Any], plan: Any, path: str) -> None:
        super().__init__(arguments)
        self.plan = plan
        self.path = path


def owner() -> str:
    """Return ``project/stack``, the mark on everything that this program makes."""
    return f"{pulumi.get_project()}/{pulumi.get_stack()}"


def component_name(namespace: str, volume_id: str) -> str:
    """Return a name that is unique in the stack: ``mysql`` in the default namespace, ``prod/mysql`` in ``prod``."""
    return volume_id if namespace == "default" else f"{namespace}/{volume_id}"


class Component(pulumi.ComponentResource):
    """
    A component that takes its arguments by keyword or in a dictionary.

    Its constructor raises what Pulumi prints without a traceback.
    """

    def __init__(self, kind: str, name: str, props: Any = None, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(kind, name, props, opts)
        self._caller = pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None)
        self.is_retained = bool(opts and opts.retain_on_delete)
        """Whether the engine forgets what the component makes when it is removed, and leaves it."""
        aliases = [each for each in opts.aliases or () if isinstance(each, pulumi.Alias)] if opts else []
        self.former_names = [each.name for each in aliases if isinstance(each.name, str)]
        self.may_change_inputs = declared_resource.may_change_inputs(opts)
        """Whether an input of what it makes may get another value than the component gives it."""

    def child(self, **options: Any) -> pulumi.ResourceOptions:
        """
        Return the *options* of a child, which waits for what the caller's ``depends_on`` names, too.

        The engine lets the component itself wait for that, not its children.
        """
        return pulumi.ResourceOptions.merge(self._caller, pulumi.ResourceOptions(parent=self, **options))

    def finish(self, **outputs: pulumi.Input[Any]) -> None:
        """Set the *outputs* of the component, and say to the engine that these are all."""
        for name, value in outputs.items():
            setattr(self, name, pulumi.Output.from_input(value))
        self.register_outputs({alias_generators.to_camel(name): getattr(self, name) for name in outputs})

    def __init_subclass__(cls, **settings: Any) -> None:
        """Wrap the constructor of the subclass, where it takes a class of arguments as our own components do."""
        super().__init_subclass__(**settings)
        kind = cls.__init__.__annotations__.get("args")
        if typing.is_typeddict(kind):
            cls.__init__ = _by_keyword(cls.__init__)  # type: ignore[method-assign]


def _by_keyword(constructor: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(constructor)
    def construct(
        self: Any,
        resource_name: str,
        args: Mapping[str, Any] | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        source = f"{type(self).__name__} {resource_name}"
        if args is not None and (arguments or not isinstance(args, Mapping)):
            got = "both" if arguments else f"a value of type {type(args).__name__}"
            allowed = "the arguments by keyword or in one dictionary; options are the third argument, or opts="
            raise argument_error(errors.SpecError((errors.Problem(path="args", got=got, allowed=allowed),), source))
        given = args if isinstance(args, Planned) else _given(args or arguments, source)
        try:
            constructor(self, resource_name, given, opts)
        except errors.SpecError as error:
            raise argument_error(error) from None
        except errors.NomadCsiError as error:
            raise late_error(error) from None

    return construct


def _given(arguments: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return those of *arguments* that are not None. Raises `ArgumentError` where one is a resource, not its output."""
    end_quietly()
    if problems := tuple(_resources(arguments, "")):
        raise argument_error(errors.SpecError(problems, source))
    return {name: value for name, value in arguments.items() if value is not None}


def _resources(value: Any, path: str) -> Iterator[errors.Problem]:
    """Yield a problem for each resource in *value*, at *path*, where one of its outputs is meant."""
    if isinstance(value, pulumi.Resource):
        kind = type(value).__name__
        yield errors.Problem(path=path, allowed="a value", got=f"the {kind} itself", fix=f"pass {_meant(value, path)}")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _resources(item, errors.path_of(path, (name,)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _resources(item, errors.path_of(path, (index,)))


def _meant(resource: pulumi.Resource, path: str) -> str:
    """Return the output of *resource* that the argument at *path* takes: ``plugin.plugin_id``."""
    argument = path.rpartition(".")[2]
    word = re.findall("[A-Z][a-z0-9]*", type(resource).__name__)[-1].lower()
    return f"{word}.{argument}" if hasattr(resource, argument) else "one of its outputs"


def end_quietly() -> None:
    """
    Let SIGINT end a program that Pulumi's engine runs, unless the program handles it.

    The engine sends it when a resource fails, and has said why; Python would print a traceback.
    """
    is_program = LANGUAGE_HOST in (Path(word).name for word in sys.orig_argv)  # and not the provider, or a test
    if is_program and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
