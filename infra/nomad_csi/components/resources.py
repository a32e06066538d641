"""
The custom resources as a Pulumi program sees them. `nomad_csi.frame.registry` names the modules with their rules.

Type checkers and editors read ``resources.pyi``, which ``python -m tests.schema`` writes from what the kinds of
resources declare.
"""

from nomad_csi.components import declared_resource

Provider = declared_resource.Provider


class StackIdentity(declared_resource.DeclaredResource):
    """The random id by which a stack owns what it makes; one in each stack, declared by the components."""


class PluginJob(declared_resource.DeclaredResource):
    """
    A Nomad job that runs one role of a CSI plugin, for the stack *owner*, whose id is *owner_id*.

    The HCL is the document. A job of that id that differs and is not this owner's is taken over only when *adopt*
    is true.
    """


class PluginHealth(declared_resource.DeclaredResource):
    """The gate: it is there once the plugin is verified healthy. Registrations depend on it."""


class VolumeRegistration(declared_resource.DeclaredResource):
    """
    A CSI volume as Nomad holds it, for the stack *owner*, whose id is *owner_id*.

    Its storage exists already and is never deleted by it. One of that id that differs, or is another owner's, is
    taken over only when *adopt* is true. With *protect*, a change is refused by which the id would stand for
    other data; *storage* is what the program knows of that.
    """


class CreatedVolume(declared_resource.DeclaredResource):
    """
    A CSI volume that its plugin makes, through Nomad, for the stack *owner*, whose id is *owner_id*.

    One of that id that differs, or is another owner's, is taken over only when *adopt* is true. When it is removed
    or replaced, its storage stays, or goes with all data: *on_destroy* ``keep`` or ``delete``, *deletion* says
    how. While *availability_zone* stays, another topology key replaces nothing.
    """


class StorageHold(declared_resource.DeclaredResource):
    """
    Storage that several volumes share, for the stack *owner*, whose id is *owner_id*.

    It is not removed while a volume is registered in the storage *storage_id*, and so the storage, on which it depends,
    is not deleted either.
    """


class RenderedFile(declared_resource.DeclaredResource):
    """A rendered file below the provider's ``root``: written at once, and never over a file that is not ours."""
