"""One resource type at work: create, read, update, delete, with every expected failure worded for the operator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore import exceptions

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, faults, inputs, rows

EXPECTED = (exceptions.ClientError, exceptions.BotoCoreError, errors.NomadCsiError)
"""Errors that are answers and reach the operator as a sentence. Anything else is a bug of this emulator."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """An object that exists."""

    identity: str
    outputs: rows.Properties

    problem: str = ""
    """Why it is not as it should be yet. The engine records it with this and goes on from there next time."""


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """What happens to objects of one type in one region. Expected failures are raised as `errors.AwsError`."""

    row: rows.Row
    aws: clients.Clients
    defaults: inputs.Defaults

    def create(self, wanted: rows.Properties) -> Made:
        """Make the object. What fails once it exists is told in `Made.problem`, so that no orphan is left behind."""
        with self._worded("creating", ""):
            identity = self.row.make(self.aws, wanted)
        try:
            self.row.complete(self.aws, identity, wanted)
        except EXPECTED as error:
            return self._made_badly(identity, wanted, error)
        return self._made(identity, wanted)

    def read(self, identity: str, old_inputs: Mapping[str, Any]) -> tuple[rows.Properties, rows.Properties] | None:
        """Return inputs and outputs as they are now, sparse inputs when there were none; ``None`` when it is gone."""
        with self._worded("reading", identity):
            live = self._live(identity)
        if live is None:
            return None
        if old_inputs:
            current = inputs.refreshed(self.row, old_inputs, live, self.defaults)
        else:
            current = inputs.imported(self.row, live, self.defaults)
        return current, inputs.outputs(self.row, current, live, self.defaults)

    def update(self, identity: str, old_inputs: rows.Properties, wanted: rows.Properties) -> Made:
        """Change the object in place. When only looking at it afterwards fails, `Made.problem` has the reason."""
        with self._worded("updating", identity):
            self.row.update(self.aws, identity, old_inputs, wanted)
        return self._made(identity, wanted)

    def delete(self, identity: str, state: rows.Properties) -> None:
        """Remove the object; one that is gone already is no error."""
        with self._worded("deleting", identity):
            try:
                self.row.remove(self.aws, identity, state)
            except exceptions.ClientError as error:
                if not faults.is_gone(error):
                    raise

    def _live(self, identity: str) -> rows.Properties | None:
        """Return the live properties with the region; ``None`` when the object is gone."""
        try:
            live = self.row.look(self.aws, identity)
        except exceptions.ClientError as error:
            if faults.is_gone(error):
                return None
            raise
        return live if live is None or not self.row.has_region else {**live, "region": self.aws.region}

    def _made(self, identity: str, wanted: rows.Properties) -> Made:
        """Look at what was made."""
        try:
            live = self._live(identity)
        except EXPECTED as error:
            return self._made_badly(identity, wanted, error)
        if live is None:
            return self._made_badly(identity, wanted, errors.AwsError("AWS does not show it"))
        return Made(identity=identity, outputs=inputs.outputs(self.row, wanted, live, self.defaults))

    def _made_badly(self, identity: str, wanted: rows.Properties, error: Exception) -> Made:
        problem = faults.of_resource("waiting for", self.row, identity, error)
        return Made(identity=identity, outputs=wanted, problem=problem)

    @contextmanager
    def _worded(self, verb: str, identity: str) -> Iterator[None]:
        try:
            yield
        except EXPECTED as error:
            raise errors.AwsError(faults.of_resource(verb, self.row, identity, error)) from error
