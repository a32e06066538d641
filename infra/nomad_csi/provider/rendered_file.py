"""The custom resource `RenderedFile`: a job file or volume file below the project, meant to be committed."""

import errno
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic

from nomad_csi import errors
from nomad_csi.frame import changes, properties, resource
from nomad_csi.render import disk

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
    """Outputs of a `RenderedFile`."""

    sha256: str
    """SHA-256 of the text as this stack wrote it, in hexadecimal."""


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
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """Compare inputs; a new path is a new file."""
        del identity, old_outputs
        return changes.difference(self.declared, old_inputs, news)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the path as the id, and the hash where the content is known."""
        return news["path"], _outputs(news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Write the file. Raises `errors.RefusedError` where another one is in its place."""
        target = _target(context, news["path"])
        _refuse_other(target, news, {})
        return news["path"], _written(target, news)

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Refuse what a create or an update would, where the text is known."""
        if resource.UNKNOWN not in (news["path"], news["content"]):
            is_new = old_outputs.get("path") != news["path"]
            _refuse_other(_target(context, news["path"]), news, {} if is_new else old_outputs)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the text on disk as ``content``: an edited file differs from the program's."""
        del inputs
        found = _read(_target(context, identity))
        if found is None:
            return None
        live = {"path": identity, "content": found}
        return live, live | {"sha256": outputs.get("sha256", _sha256(found))}

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """Write the new text over a file that is ours by its first line, by its hash, or as a refresh has seen it."""
        target = _target(context, identity)
        _refuse_other(target, news, old_outputs)
        return _written(target, news)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Remove the file and the folders that it leaves empty; a file edited since stays, with a warning."""
        target = _target(context, identity)
        found = _read(target)
        if found is None:
            return
        if not _is_as_written(found, outputs):
            context.warn(f"{identity} was edited after it was written, and stays")
            return
        target.unlink()
        _remove_empty_folders(target.parent, _root(context))


def _refuse_other(target: Path, news: Mapping[str, Any], old_outputs: Mapping[str, Any]) -> None:
    """
    Refuse to write over a file that is another's, or was edited; *old_outputs* are empty for a new one.

    An edit that a refresh has read may be overwritten: the preview has shown it.
    """
    found = _read(target)
    if found is None or disk.is_ours(found) or found == news["content"] or _is_as_written(found, old_outputs):
        return
    is_edited = disk.file_origin(found) == "edited"
    if not (is_edited and found == old_outputs.get("content")):
        raise _refusal(news["path"], is_edited=is_edited)


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


def _target(context: resource.Context, path: str) -> Path:
    """Return the file's absolute path. Raises `errors.RefusedError` where a symbolic link leads out of the root."""
    return disk.location(_root(context), path)


def _read(target: Path) -> str | None:
    try:
        return disk.read(target)
    except OSError as error:
        raise errors.NomadCsiError(f"{target}: cannot be read: {error.strerror}") from error


def _written(target: Path, news: Mapping[str, Any]) -> resource.Properties:
    try:
        disk.write(target, news["content"])
    except OSError as error:
        raise errors.NomadCsiError(f"{target}: cannot be written: {error.strerror}") from error
    return _outputs(news)


def _outputs(news: Mapping[str, Any]) -> resource.Properties:
    content = news["content"]
    return dict(news) | {"sha256": resource.UNKNOWN if content == resource.UNKNOWN else _sha256(content)}


def _is_as_written(found: str, outputs: Mapping[str, Any]) -> bool:
    return _sha256(found) == outputs.get("sha256")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _refusal(path: str, *, is_edited: bool) -> errors.RefusedError:
    if is_edited:
        return errors.RefusedError(
            f"{path} is not overwritten, because it was edited since nomad-csi wrote it; move the edit into the spec, "
            "then remove the file, or run `pulumi refresh` and check the difference"
        )
    return errors.RefusedError(
        f"{path} is not overwritten, because nomad-csi did not write the file that is there; "
        "move it away, or choose another path"
    )


def _remove_empty_folders(folder: Path, root: Path) -> None:
    """Remove *folder* and its parents below *root* as far as they are empty; another file may do the same now."""
    while folder != root:
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise
            return
        folder = folder.parent
