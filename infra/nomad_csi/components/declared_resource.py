"""
The base class of custom resources, and their provider.

Property names inside are those on the wire, or as Python writes them: ``accessMode`` or ``access_mode``. The keys of
maps are the operator's, and stay.
"""

from typing import TYPE_CHECKING, Any

import pulumi

from nomad_csi.frame import registry

if TYPE_CHECKING:
    from nomad_csi.frame import properties


class Provider(pulumi.ProviderResource):
    """
    The Nomad cluster that plugin jobs run in and volumes are registered with.

    What is not given is read from the ``NOMAD_*`` variables, as the ``nomad`` command does.
    """

    def __init__(
        self,
        resource_name: str,
        *,
        address: pulumi.Input[str] | None = None,
        token: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        region: pulumi.Input[str] | None = None,
        root: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Connect to *address* with *token*; paths of rendered files are relative to *root*."""
        props = {
            "address": address,
            "token": pulumi.Output.secret(token) if token is not None else None,
            "namespace": namespace,
            "region": region,
            "root": root,
        }
        super().__init__("nomad-csi", resource_name, props, opts)
        is_known = all(isinstance(part, str | None) for part in (address, region))
        self.cluster = (address, region) if is_known else None
        """Which cluster it is for, where the program knows; components for the same one are checked together."""


class DeclaredResource(pulumi.CustomResource):
    """A custom resource whose arguments are the inputs declared for its name; all its properties are attributes."""

    def __init__(self, resource_name: str, *, opts: pulumi.ResourceOptions | None = None, **arguments: Any) -> None:
        declared = self.declared()
        names = declared.python_names
        given = {names.get(argument, argument): value for argument, value in arguments.items()}
        if unknown := given.keys() - declared.inputs.keys():
            raise TypeError(f"{type(self).__name__}() got an unexpected argument {min(unknown)!r}")
        missing = [own for own, name in names.items() if name in declared.required - given.keys()]
        if missing:
            raise TypeError(f"{type(self).__name__}() missing argument {missing[0]!r}")
        inputs = {name: declared.spelled(name, given.get(name)) for name in declared.inputs}
        inputs |= {name: pulumi.Output.secret(inputs[name]) if inputs[name] else None for name in declared.secret}
        if not may_change_inputs(opts):
            inputs = {name: value for name, value in inputs.items() if value is not None or name in declared.defaults}
        props = dict.fromkeys(declared.program_outputs) | inputs
        super().__init__(declared.token, resource_name, props, opts)
        vars(self).update({attribute: vars(self)[name] for attribute, name in names.items() if name in props})

    @classmethod
    def declared(cls) -> "properties.Declaration":
        """Return what is declared for the resource."""
        return registry.declaration(cls.__name__)

    def __getattr__(self, attribute: str) -> Any:
        """
        Return the output of an argument that was not given, with the value ``None``.

        It is made when it is read: the SDK waits for all outputs of a program together, again after each that comes, so
        that the time grows with the square of their number (pulumi Python SDK 3.272, ``wait_for_rpcs`` in
        ``pulumi/runtime/stack.py``).
        """
        if attribute not in self.declared().python_names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")
        return self.urn.apply(lambda _urn: None)


def may_change_inputs(opts: pulumi.ResourceOptions | None) -> bool:
    """Return whether an input may get a value that the program does not give, such as that of the state."""
    if opts is None:
        return False
    return any((opts.ignore_changes, opts.transforms, opts.transformations, opts.id, opts.urn, opts.import_))
