"""
One registration from the program: found, checked, compared, decided, carried out, recorded.

Decisions are made one at a time, as in the real engine; steps run in parallel, each in the thread that asked.
"""

import dataclasses
import threading

from nomad_csi import errors
from nomad_csi_sandbox.engine import aliases, deletes, deployment, goal, job, state, steps, values


class Registrar:
    """Registers the resources of one run of the program."""

    def __init__(self, run: deployment.Deployment) -> None:
        self._run = run
        self._deciding = threading.Condition()
        self._taken: set[str] = set()
        """URNs that the program has registered."""

        self._going: set[str] = set()
        """URNs of old objects that are being deleted ahead of their replacement."""

        self._gone: set[str] = set()
        """URNs of those that were."""

    def register(self, wanted: goal.Goal) -> state.Resource:
        """Bring *wanted* about and return its state; the id is empty where a preview cannot know it."""
        wanted = self._inherited(wanted)
        with self._deciding:
            self._run.go_on()
            if wanted.urn in self._taken:
                raise errors.RefusedError(f"Duplicate resource URN '{wanted.urn}'; try giving it a unique name")
            self._taken.add(wanted.urn)
            self._deciding.wait_for(lambda: wanted.urn not in self._going)
            old = self._find_old(wanted)
            if old is not None and old["custom"] != wanted.custom:
                raise errors.RefusedError(f"{wanted.urn}: was {_kind(old['custom'])}, is {_kind(wanted.custom)} now")
            if wanted.is_provider:
                return self._provider(wanted, old)
            if not wanted.custom:
                return self._component(wanted, old)
            decided = self._decide(wanted, old)
        return decided.run()

    def finish(self, urn: str, outputs: values.Properties) -> None:
        """Record the *outputs* of a component, which is complete with them."""
        resource = self._run.snapshot.new(urn)
        if resource is None:
            raise errors.RefusedError(f"cannot complete a resource '{urn}' whose registration isn't pending")
        if resource.get("outputs") != outputs:
            kept = {key: value for key, value in resource.items() if key != "outputs"}
            self._run.snapshot.put({**kept, "outputs": outputs}, instead_of=None)

    def _inherited(self, wanted: goal.Goal) -> goal.Goal:
        """
        Return *wanted* with its parent's ``retainOnDelete``, where it does not say that itself.

        Source: pulumi/pulumi, ``inheritFromParent`` in ``pkg/resource/deploy/source_eval.go``.
        """
        parent = self._run.snapshot.new(wanted.parent) if wanted.parent else None
        if wanted.retain_on_delete is not None or parent is None:
            return wanted
        return dataclasses.replace(wanted, retain_on_delete=bool(parent.get("retainOnDelete")))

    # --- deciding
    def _find_old(self, wanted: goal.Goal) -> state.Resource | None:
        """Return the old state of *wanted*, found by its URN or by an alias."""
        for urn in (wanted.urn, *aliases.candidates(wanted.target, wanted.parent, wanted.aliases, self._run.renamed)):
            old = self._run.snapshot.old(urn)
            if old is not None and urn != wanted.urn:
                self._run.renamed[wanted.urn] = urn
                return self._run.snapshot.rename(old, wanted.urn)
            if old is not None:
                return old
        return None

    def _provider(self, wanted: goal.Goal, old: state.Resource | None) -> state.Resource:
        watch = deployment.Watch()
        inputs = wanted.inputs | ({"version": wanted.version} if wanted.version else {})
        extra = {key: value for key, value in wanted.state("").items() if key not in ("urn", "custom", "type")}
        resource, changed = self._run.providers.register(wanted.urn, inputs, extra)
        op: steps.Op = "create" if old is None else "update" if changed else "same"
        self._show(steps.Step(op=op, inputs=inputs), wanted.urn, watch)
        return resource

    def _component(self, wanted: goal.Goal, old: state.Resource | None) -> state.Resource:
        watch = deployment.Watch()
        step = steps.component(wanted, self._run.opened(old, wanted.inputs) if old else None)
        inputs = {"inputs": step.inputs} if step.inputs else {}
        outputs = {"outputs": old["outputs"]} if old and old.get("outputs") else {}
        resource = {**wanted.state(""), **inputs, **outputs, **job.stamp(step.op, old)}
        self._run.snapshot.put(resource, instead_of=old, write=step.op != "same")
        self._show(step, wanted.urn, watch)
        return resource

    def _show(self, step: steps.Step, urn: str, watch: deployment.Watch) -> None:
        if step.op != "same":
            self._run.display.began(step.op, urn, step.marks)
        self._run.display.ended(step.op, urn, watch.seconds, step.marks)

    def _decide(self, wanted: goal.Goal, old: state.Resource | None) -> job.Job:
        reference = wanted.provider or self._run.providers.default(wanted.target.type, wanted.version)
        one = job.Job(self._run, wanted, self._run.providers.of(reference), reference)
        if old is not None and old.get("external"):
            self._run.snapshot.drop(old)  # it was never ours: what the program wants is a new object
            old = None
        if wanted.import_id and (old is None or wanted.import_id not in (old["id"], old.get("importID"))):
            old = one.take_in(old)
        recreating = wanted.urn in self._gone
        one.decide(old, recreating=recreating)
        if one.step.op == "replace" and one.step.delete_first and not recreating:
            one.condemned = deletes.must_go_first(self._run, one.old, self._taken | self._going | self._gone)
            one.when_gone = self._let_go_on
            self._going |= {each["urn"] for each in one.condemned}
        return one

    def _let_go_on(self, urn: str) -> None:
        """Let those go on that wait for the old object of *urn* to be gone."""
        with self._deciding:
            self._going.discard(urn)
            self._gone.add(urn)
            self._deciding.notify_all()


def _kind(custom: bool) -> str:
    return "a resource of a provider" if custom else "a component"
