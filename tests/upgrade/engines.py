"""An engine that carries a recorded stack on: the emulator, or Pulumi's own with the recorded state imported."""

import json

from tests.real.engines import conftest as comparison
from tests.walk import engines as walks

QUIET = ("same", "refresh", "read")
"""Operations that change nothing."""


class Engine(comparison.Engine):
    """The engine of a sandbox whose state can be put in, and whose stack can be renamed."""

    def __init__(self, kind, sandbox):
        super().__init__(kind, sandbox)
        self.project, self.stack = "nomad-csi", "sandbox"

    def put(self, state):
        """Have the stack be as *state*, an exported deployment, says."""
        if self.kind != "real":
            self.sandbox.state.write_text(json.dumps(state), encoding="utf-8")
            return
        file = self.sandbox.project.parent / "import.json"
        file.write_text(json.dumps(state), encoding="utf-8")
        self.sandbox.exec("pulumi", "--cwd", self.sandbox.project, "stack", "import", "--file", file)

    def rename(self, name, project="nomad-csi"):
        """Rename the stack and its project, as ``pulumi stack rename`` and an edited ``Pulumi.yaml`` do."""
        place = walks.Place(folder=self.sandbox.project, project=self.project, name=self.stack)
        if self.kind == "real":
            words = ("stack", "rename", "--stack", self.stack, f"organization/{project}/{name}")
            self.sandbox.exec("pulumi", "--cwd", self.sandbox.project, *words)
            for moved in self.sandbox.project.rglob(f"Pulumi.{name}.yaml"):
                moved.rename(moved.with_name("Pulumi.sandbox.yaml"))  # the sandbox knows its config by the old name
        else:
            state = json.loads(self.sandbox.state.read_text(encoding="utf-8"))
            self.put(walks.renamed(state, place, name, project))
        self._rename_project(project)
        self.stack, self.project = name, project

    def _rename_project(self, project):
        """Write the name of the project, and its config under that, as the program reads it."""
        for path, old, new in (
            (self.sandbox.project / "Pulumi.yaml", f"name: {self.project}\n", f"name: {project}\n"),
            (self.sandbox.config, f"  {self.project}:", f"  {project}:"),
        ):
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    def command(self, operation, *words):
        """Return what to type behind ``nomad-csi sandbox exec --``, for the stack as it is called now."""
        found = list(super().command(operation, *words))
        if self.kind == "real":
            return [*found, "--stack", self.stack]
        found[found.index("--stack") + 1] = self.stack
        return found

    def deployment(self):
        """Return the state, in the shape of ``pulumi stack export``."""
        if self.kind != "real":
            return super().deployment()
        words = ("pulumi", "--cwd", self.sandbox.project, "stack", "export", "--stack", self.stack)
        return json.loads(self.sandbox.exec(*words).stdout)["deployment"]


def changes(done):
    """Return what a run did, or would do: ``(op, type, name)`` of each resource that is no provider."""
    found = ((op, *urn.split("::")[2:]) for op, urn in done.operations if op not in QUIET)
    return sorted((op, kind.rpartition("$")[2], name) for op, kind, name in found if not kind.startswith("pulumi:"))
