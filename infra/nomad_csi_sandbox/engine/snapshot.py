"""
The state of a stack while an operation runs: what was, what is by now, and what has begun and not ended.

Every change is on the disk when the call that makes it returns, so that a run killed at any point leaves a state that
the next one goes on from. Source: pulumi/pulumi, ``pkg/backend/snapshot.go``.
"""

import itertools
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from nomad_csi import errors
from nomad_csi_sandbox.engine import state

PENDING_WARNING = """\
Attempting to deploy or update resources with {count} pending operations from previous deployment.
{operations}
These resources are in an unknown state because the Pulumi CLI was interrupted while waiting for changes to these \
resources to complete. You should confirm whether or not the operations listed completed successfully by checking the \
state of the appropriate provider. For example, if you are using AWS, you can confirm using the AWS Console.

Once you have confirmed the status of the interrupted operations, you can repair your stack using `pulumi refresh` \
which will refresh the state from the provider you are using and clear the pending operations if there are any.

Note that `pulumi refresh` will need to be run interactively to clear pending CREATE operations."""
"""The real engine's words (``printPendingOperationsWarning`` in ``pkg/resource/deploy/deployment_executor.go``)."""


class Snapshot:
    """One stack's resources. All methods may be called from any thread."""

    def __init__(self, stored: state.Stored, path: Path, *, dry: bool) -> None:
        self.seal = state.seal_of(stored)
        self.path = path
        self.dry = dry
        """In a preview nothing is written."""
        self.interrupted = tuple(stored.pending)
        """Operations that an earlier run began and did not end."""
        self._olds: dict[_Key, state.Resource] = {}
        """In the order of creation. By key, for a stack of a thousand resources looks for each of them."""
        self._standing: dict[str, state.Resource] = {}
        """Those of them by URN that are not to be deleted."""
        self._take(stored.resources)
        self._news: dict[str, state.Resource] = {}
        self._pending: dict[int, dict[str, Any]] = {}
        self._tokens = itertools.count()
        self._lines: dict[int, tuple[state.Resource, str]] = {}
        """What was written last of each resource, by its identity: only what changed is put into JSON again."""
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._version = self._written = 0
        self._is_refused = False
        self.closed = False
        """Whether nothing is written any more: the run is being killed, and what fails by that is not known to fail."""

    # --- what is there
    def old(self, urn: str) -> state.Resource | None:
        """Return the state that *urn* had before this operation, unless it has been dealt with or is to be deleted."""
        with self._lock:
            return self._standing.get(urn)

    def new(self, urn: str) -> state.Resource | None:
        """Return the state that *urn* got in this operation."""
        with self._lock:
            return self._news.get(urn)

    def left(self) -> list[state.Resource]:
        """Return what was there before and has not been dealt with, in the order of creation."""
        with self._lock:
            return list(self._olds.values())

    def resources(self) -> list[state.Resource]:
        """Return everything there is now, in the order of the file."""
        with self._lock:
            return [*self._news.values(), *self._olds.values()]

    def pending_warning(self) -> str:
        """Return the engine's warning about interrupted operations; empty when there were none."""
        lines = [f"  * {each['resource']['urn']}, interrupted while {each['type']}" for each in self.interrupted]
        return PENDING_WARNING.format(count=len(lines), operations="\n".join(lines)) if lines else ""

    # --- what changes
    def begin(self, kind: str, resource: state.Resource) -> int:
        """Note that *kind* (``creating``, ``updating``, ``deleting``…) begins; return a token for `end`."""
        with self._lock:
            token = next(self._tokens)
            self._pending[token] = {"resource": resource, "type": kind}
        self.save()
        return token

    def end(self, token: int) -> None:
        """Forget what began under *token*. Written together with the change that follows, or by `save`."""
        with self._lock:
            self._pending.pop(token, None)

    def put(self, resource: state.Resource, *, instead_of: state.Resource | None = None, write: bool = True) -> None:
        """Record *resource*; the old state *instead_of* which it stands is gone with the same write."""
        with self._lock:
            self._news[resource["urn"]] = resource
            self._remove(instead_of)
        self._changed(write=write)

    def drop(self, old: state.Resource) -> None:
        """Forget *old*."""
        with self._lock:
            self._remove(old)
            new = self._news.get(old["urn"])
            if new is not None and _key(new) == _key(old):
                del self._news[old["urn"]]
        self._changed()

    def mark(self, old: state.Resource, flag: str, *, write: bool = True) -> state.Resource:
        """Set *flag* (``delete``, ``pendingReplacement``) on *old*; return the state that now stands in its place."""
        marked = {**old, flag: True}
        with self._lock:
            self._take(marked if key == _key(old) else each for key, each in list(self._olds.items()))
        self._changed(write=write)
        return marked

    def rename(self, old: state.Resource, urn: str) -> state.Resource:
        """Give *old*, found by an alias, its new *urn*, in the references of all others too; return it."""
        with self._lock:
            self._take([_renamed(each, old["urn"], urn) for each in self._olds.values()])
            self._news = {name: _renamed(each, old["urn"], urn) for name, each in self._news.items()}
            return self._standing[urn]

    def restore(self, resources: list[state.Resource]) -> None:
        """Set what was there before to *resources*, as a refresh found them."""
        with self._lock:
            self._take(resources)
        self._changed()

    def forget_interrupted(self, *, creates: bool) -> None:
        """Forget interrupted operations, as a refresh does: those that were ``creating`` only if *creates*."""
        self.interrupted = tuple(each for each in self.interrupted if each["type"] == "creating" and not creates)
        self._changed()

    def save(self) -> None:
        """Write what there is, and return when it is on the disk."""
        self._changed()

    def _remove(self, old: state.Resource | None) -> None:
        if old is not None and self._olds.pop(_key(old), None) is not None and not old.get("delete"):
            self._standing.pop(old["urn"], None)

    def _take(self, resources: Iterable[state.Resource]) -> None:
        """Set what was there before."""
        self._olds = {_key(each): each for each in resources}
        self._standing = {each["urn"]: each for each in self._olds.values() if not each.get("delete")}

    def _changed(self, *, write: bool = True) -> None:
        with self._lock:
            self._version += 1
            wanted = self._version
        if write and not self.dry:
            self._write(wanted)

    def _write(self, wanted: int) -> None:
        with self._writing:
            if self._written >= wanted:
                return  # another thread's write had this change in it
            with self._lock:
                version = self._version
                text = self._render()
            if not self.closed:
                self._put_on_disk(text)
            self._written = version

    def _put_on_disk(self, text: str) -> None:
        """Write the state. That it cannot be written is told once: where it was first tried, the rest is cancelled."""
        try:
            state.write(self.path, text)
        except errors.NomadCsiError as error:
            if self._is_refused:
                raise errors.CancelledError(str(error)) from error
            self._is_refused = True
            raise

    def _render(self) -> str:
        kept = [each for each in self.interrupted if each["type"] == "creating"]
        pending = [*kept, *self._pending.values()]
        current = self.resources()
        lines = [self._line(each) for each in current]
        self._lines = {id(each): (each, line) for each, line in zip(current, lines, strict=True)}
        return state.render(lines, [json.dumps(self.seal.close(each)) for each in pending], self.seal.salt)

    def _line(self, resource: state.Resource) -> str:
        held, line = self._lines.get(id(resource), (None, ""))
        return line if held is resource else json.dumps(self.seal.close(resource))


_Key: TypeAlias = tuple[str, str | None, bool | None]


def _key(resource: state.Resource) -> _Key:
    """Return what identifies an object. A replaced one shares its URN with the one that replaced it."""
    return resource["urn"], resource.get("id"), resource.get("delete")


def _renamed(resource: state.Resource, old: str, new: str) -> state.Resource:
    """Return *resource* with *new* wherever it names *old*."""

    def swap(urn: str) -> str:
        return new if urn == old else urn

    changed = {**resource, "urn": swap(resource["urn"])}
    if "parent" in resource:
        changed["parent"] = swap(resource["parent"])
    if "provider" in resource and resource["provider"].startswith(f"{old}::"):
        changed["provider"] = new + resource["provider"].removeprefix(old)
    if "dependencies" in resource:
        changed["dependencies"] = [swap(urn) for urn in resource["dependencies"]]
    if "propertyDependencies" in resource:
        dependencies = resource["propertyDependencies"].items()
        changed["propertyDependencies"] = {key: [swap(urn) for urn in urns] for key, urns in dependencies}
    return changed
