"""The custom resource `RenderedFile`: a job file or volume file below the project, meant to be committed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic

from nomad_csi import errors
from nomad_csi.frame import properties, resource
from nomad_csi.hcl import disk

PATH_SAYS = "a path below the root such as rendered/jobs/a.nomad.hcl, without '..'"


def _relative(path: str) -> str:
    if not disk.is_relative(path):
        raise ValueError(PATH_SAYS)
    return path


class RenderedFileInputs(properties.Properties):
    """A text file below the provider's root. A file that nomad-csi did not write is never overwritten."""

    path: Annotated[str, pydantic.AfterValidator(_relative), properties.Mark.REPLACES]
    """Where the file is, relative to the provider's `root`."""

    content: str
    """The whole text of the file."""


class RenderedFileOutputs(properties.Properties):
    """Outputs of a `RenderedFile`: its inputs alone."""


DECLARED = properties.Declaration(
    token="nomad-csi:index:RenderedFile",  # noqa: S106  # Pulumi's word for a type's name
    input_model=RenderedFileInputs,
    output_model=RenderedFileOutputs,
)


class RenderedFileResource(resource.Resource):
    """
    A text file below the configured root.

    A file that nomad-csi did not write is never overwritten or removed. One that was edited since is overwritten only
    after a refresh has read the edit, so that the drift was shown first, and is never removed.
    """

    declared = DECLARED

    def diff(
        self,
        identity: str,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        new_inputs: Mapping[str, Any],
    ) -> resource.ResourceDiff:
        """Compare inputs; a new path is a new file."""
        del identity, old_outputs
        return resource.difference(self.declared, old_inputs, new_inputs)

    def preview(self, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the path as the id."""
        return new_inputs["path"], dict(new_inputs)

    def preflight(
        self, context: resource.Context, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]
    ) -> None:
        """Refuse what a create or an update would, where the text is known."""
        if new_inputs["content"] != resource.UNKNOWN:
            root, is_seen = _root(context), _is_seen(context, old_outputs, new_inputs)
            disk.refuse_other(root, {new_inputs["path"]: new_inputs["content"]}, overwrite=is_seen, advice=ADVICE)

    def create(self, context: resource.Context, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Write the file. Raises `errors.RefusedError` where another one is in its place."""
        return new_inputs["path"], self.update(context, new_inputs["path"], {}, new_inputs)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the text on disk as ``content``: an edited file differs from the program's."""
        del inputs, outputs
        text = disk.read(disk.location(_root(context), identity))
        live = {"path": identity, "content": text}
        return None if text is None else (live, live)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]
    ) -> resource.Properties:
        """Write the new text over a file that is ours, or that a refresh has read with its edits."""
        is_seen = _is_seen(context, old_outputs, new_inputs)
        disk.write_all(_root(context), {identity: new_inputs["content"]}, overwrite=is_seen, advice=ADVICE)
        return dict(new_inputs)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Remove the file; another text than written stays, with a warning."""
        target = disk.location(_root(context), identity)
        text = disk.read(target)
        if text is not None and not (text == outputs.get("content") and disk.is_ours(text)):
            context.warn(f"{identity} was edited after it was written, and stays")
        elif text is not None:
            target.unlink()


ADVICE = "move the edit into the spec, then remove the file, or run `pulumi refresh` and check the difference"


def _is_seen(context: resource.Context, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]) -> bool:
    """Return whether the state has the text that is on disk: a preview has shown the edits in it."""
    is_same = old_outputs.get("path") == new_inputs["path"]
    return is_same and disk.read(_root(context) / new_inputs["path"]) == old_outputs.get("content")


def _root(context: resource.Context) -> Path:
    if context.root is None:
        problem = errors.Problem(
            path="root",
            got="nothing",
            allowed="the folder that rendered files are written below",
            fix="set root on the nomad-csi provider, or NOMAD_CSI_ROOT",
        )
        raise errors.SpecError((problem,), source="the nomad-csi provider")
    return context.root.resolve()
