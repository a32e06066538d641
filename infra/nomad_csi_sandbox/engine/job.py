"""
One custom resource on its way: checked, compared, decided, carried out, recorded.

Source: pulumi/pulumi, ``pkg/resource/deploy/step_generator.go`` and ``step.go``.
"""

import os
from collections.abc import Callable

from nomad_csi import errors
from nomad_csi_sandbox.engine import deletes, deployment, goal, plugins, state, steps, values


def _nothing(_urn: str) -> None:
    """Do nothing."""


class Job:
    """What is done about one custom resource."""

    def __init__(
        self,
        run: deployment.Deployment,
        wanted: goal.Goal,
        plugin: plugins.Plugin,
        reference: str,
    ) -> None:
        self._run = run
        self._wanted = wanted
        self._plugin = plugin
        self._base = wanted.state(reference)
        self._seed = os.urandom(32)
        self.old: state.Resource = {}
        """The state before, as the snapshot holds it; empty when there is none."""

        self._opened: state.Resource = {}
        self._imported = False
        self.step = steps.Step(op="same", inputs={})
        self.condemned: list[state.Resource] = []
        """Old objects that go before this one is made, in that order."""

        self.when_gone: Callable[[str], None] = _nothing
        """Called with the URN of each of *condemned*, once it is gone."""

    # --- deciding
    def decide(self, old: state.Resource | None, *, recreating: bool) -> None:
        """
        Ask the provider what separates *old* from what is wanted, and settle `step`.

        Of what this run deleted ahead of the replacement of a dependency (*recreating*) nothing is asked.
        """
        self.old = old or {}
        self._opened = self._run.opened(self.old, self._wanted.inputs)
        if recreating:
            self.step = steps.Step(op="replace", inputs=self._check({}, self._wanted.inputs), delete_first=True)
            return
        if not old:
            self.step = steps.decide(self._wanted, None, self._check({}, self._wanted.inputs), _NO_DIFFERENCE)
            return
        old_inputs = self._opened.get("inputs", {})
        inputs = self._check(old_inputs, self._wanted.kept_inputs(old_inputs))
        difference = self._plugin.diff(self._wanted.target, self._opened, inputs, self._wanted.ignore_changes)
        self.step = steps.decide(self._wanted, self._opened, inputs, difference)
        if self.step.op == "replace":
            self._settle_replacement()

    def _settle_replacement(self) -> None:
        refusal = steps.refuse_replacement(self._wanted, self.old)
        if refusal and self._run.dry:
            self._run.step_failed.set()
            self._run.display.say("error", self._wanted.urn, refusal)  # and on, so that the preview shows the rest
        elif refusal:
            raise errors.RefusedError(refusal)
        steps.refuse_import(self._wanted, self.step)
        inputs = self._check({}, self._wanted.inputs)
        self.step = steps.Step(op="replace", inputs=inputs, marks=self.step.marks, delete_first=self.step.delete_first)

    def _check(self, olds: values.Properties, news: values.Properties) -> values.Properties:
        return self._plugin.check(self._wanted.target, olds, news, self._seed)

    def take_in(self, old: state.Resource | None) -> state.Resource:
        """Import the object with the wanted id: read it and record it as the old state. It must exist."""
        wanted, watch = self._wanted, deployment.Watch()
        self._run.display.began("import", wanted.urn)
        found = self._plugin.read(wanted.target, wanted.import_id, {}, {})
        if not found.identity:
            raise errors.RefusedError(f"resource '{wanted.import_id}' does not exist")
        now = state.now()
        resource = {
            **self._base,
            "id": found.identity,
            "inputs": found.inputs,
            "outputs": found.outputs,
            "created": now,
            "modified": now,
            **flags(found),
        }
        if old is not None:
            self._run.snapshot.mark(old, "delete", write=False)
        self._run.snapshot.put(resource)
        self._run.display.ended("import", wanted.urn, watch.seconds)
        self._imported = True
        return resource

    # --- doing
    def run(self) -> state.Resource:
        """Carry the step out and return the new state. Raises `errors.RefusedError` where the provider refuses."""
        for each in self.condemned:
            try:
                deletes.delete_ahead(self._run, each)
            finally:
                self.when_gone(each["urn"])
        if self.condemned:
            self.old = self._run.snapshot.old(self._wanted.urn) or self.old
        match self.step.op:
            case "same":
                return self._same()
            case "update":
                return self._update()
            case "create":
                return self._create("create")
            case "replace":
                return self._replace()

    def _same(self) -> state.Resource:
        outputs = self._run.opened(self.old, self.step.inputs).get("outputs", {})
        kept: state.Resource = {key: self.old[key] for key in ("refreshBeforeUpdate", "importID") if key in self.old}
        resource: state.Resource = {
            **self._base,
            **kept,
            "id": self.old["id"],
            "inputs": self.step.inputs,
            "outputs": self._hide(outputs),
            **stamp("same", self.old),
        }
        self._put(resource, write=False)
        if not self._imported:
            self._run.display.ended("same", self._wanted.urn, 0.0, self.step.marks)
        return resource

    def _create(self, op: str) -> state.Resource:
        with self._run.slot():
            watch = deployment.Watch()
            self._run.display.began(op, self._wanted.urn, self.step.marks)
            with self._failing_as(op), self._run.pending("creating", {**self._base, "inputs": self.step.inputs}):
                outcome = self._create_outcome()
            resource = self._record(outcome, "create")
            self._done(op, outcome, watch)
        return resource

    def _create_outcome(self) -> plugins.Outcome:
        if self._run.dry and not self._plugin.supports_preview:
            return plugins.Outcome(identity="", outputs=self.step.inputs)
        timeout_s = self._wanted.timeouts_s.get("create", 0.0)
        return self._plugin.create(self._wanted.target, self.step.inputs, preview=self._run.dry, timeout_s=timeout_s)

    def _replace(self) -> state.Resource:
        if self.step.delete_first:
            self._show_replaced()
            return self._create("create-replacement")
        resource = self._create("create-replacement")
        self._show_replaced()
        return resource

    def _show_replaced(self) -> None:
        self._run.display.began("replace", self._wanted.urn, self.step.marks)
        self._run.display.ended("replace", self._wanted.urn, 0.0, self.step.marks)

    def _update(self) -> state.Resource:
        with self._run.slot():
            watch = deployment.Watch()
            self._run.display.began("update", self._wanted.urn, self.step.marks)
            with self._failing_as("update"), self._run.pending("updating", self.old):
                outcome = self._update_outcome()
            resource = self._record(outcome, "update")
            self._done("update", outcome, watch)
        return resource

    def _update_outcome(self) -> plugins.Outcome:
        old = self._run.opened(self.old, self.step.inputs)
        if self._run.dry and not self._plugin.supports_preview:
            return plugins.Outcome(identity=old["id"], outputs=old.get("outputs", {}))
        return self._plugin.update(
            self._wanted.target,
            old,
            self.step.inputs,
            preview=self._run.dry,
            timeout_s=self._wanted.timeouts_s.get("update", 0.0),
            ignore=self._wanted.ignore_changes,
        )

    # --- recording
    def _record(self, outcome: plugins.Outcome, op: str) -> state.Resource:
        """Record what *outcome* left, before anyone hears of it."""
        resource = {
            **self._base,
            "id": outcome.identity,
            "inputs": self.step.inputs,
            "outputs": self._hide(outcome.outputs),
            **flags(outcome),
            **stamp(op, self.old),
        }
        if self.step.op != "replace" or self.step.delete_first:
            self._put(resource)
        elif self.old.get("pendingReplacement"):
            self._put(resource)
            self._run.deleted_again.append({**self.old, "delete": True})
        else:
            self._run.snapshot.mark(self.old, "delete", write=False)
            self._run.snapshot.put(resource)
        return resource

    def _put(self, resource: state.Resource, *, write: bool = True) -> None:
        self._run.snapshot.put(resource, instead_of=self.old or None, write=write)

    def _done(self, op: str, outcome: plugins.Outcome, watch: deployment.Watch) -> None:
        if outcome.reasons:
            count = len(outcome.reasons)
            head = f"{count} error{'s' if count > 1 else ''} occurred:"
            message = "\n".join([head, *(f"\t* {reason}" for reason in outcome.reasons)])
            self._run.fail_step(op, self._wanted.urn, message)
            self._run.go_on()
        self._run.display.ended(op, self._wanted.urn, watch.seconds, self.step.marks)

    def _hide(self, outputs: values.Properties) -> values.Properties:
        """Mark the outputs that are secret."""
        return values.hidden(outputs, self.step.inputs, self._wanted.additional_secret_outputs)

    def _failing_as(self, op: str) -> "deployment.Failing":
        return deployment.Failing(self._run, op, self._wanted.urn)


def flags(outcome: plugins.Outcome) -> state.Resource:
    """Return what the provider said of the object besides its properties, as the state keeps it."""
    flags: state.Resource = {"refreshBeforeUpdate": True} if outcome.refresh_before_update else {}
    return flags | ({"initErrors": list(outcome.reasons)} if outcome.reasons else {})


def stamp(op: str, old: state.Resource | None) -> state.Resource:
    """Return when the object was made and last changed."""
    now = state.now()
    before = old or {}
    created = before.get("created", now) if op in ("same", "update") else now
    return {"created": created, "modified": before.get("modified", now) if op == "same" else now}


_NO_DIFFERENCE = plugins.Difference(changed=False)
