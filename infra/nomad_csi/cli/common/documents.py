"""The plan that a command's arguments name: specs, volume files and directories of them, with the volumes' secrets."""

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, secrets, specs
from nomad_csi.hcl import volume_file
from nomad_csi.plan import model, registration, volumes


@dataclass(frozen=True, kw_only=True)
class NamedPlan:
    """The content of the given paths."""

    plan: model.StoragePlan
    needed: Mapping[str, tuple[str, ...]]
    """Secrets that a volume file names and lacks, by ``namespace/volume_id``."""

    is_part: bool = False
    """Whether the user named volumes: others of the paths are left out."""

    def filled(
        self, external_ids: Mapping[str, str], given: secrets.Given
    ) -> tuple[registration.VolumeRegistration, ...]:
        """
        Return the document of each volume of the plan with its secrets.

        *external_ids* are those of storage that Pulumi creates; *given* secrets may be of volumes left out. Raises
        `errors.SpecError` naming every volume without storage, and every secret that is missing.
        """
        refuse_unknown_storage(self.plan, external_ids)
        documents = [volumes.desired_document(item, external_ids) for item in self.plan.volumes]
        own = {item.key: given[item.key] for item in documents if item.key in given} if self.is_part else given
        return secrets.filled(documents, own, self.needed)


# The arguments of `plan` and `apply`.


named = specs.words(
    "[SPEC|FILE...] [VOLUME...]",
    "specs or stack configs (.yaml), volume files (.hcl), directories of these (default: the spec of this directory); "
    "then volumes, or sets by their ids: only these, and the plugins that they need",
)
"""The decorator that adds the arguments."""


def is_whole(arguments: command.Arguments) -> bool:
    """Return whether *arguments* name whole specs only, and so all that their owner has."""
    return all(isinstance(word, Path) and word.suffix in inputs.YAML for word in arguments.words)


def read(arguments: command.Arguments, namespace: str) -> NamedPlan:
    """Return the plan that *arguments* name. Raises what `read_paths` raises, and `usage.UsageError`."""
    whole = read_paths(specs.paths(arguments), namespace)
    keys = specs.volumes(arguments)
    if not keys:
        return whole
    chosen = inputs.chosen_volumes(whole.plan.volumes, keys)
    needed = {item.registration.plugin_id for item in chosen}
    plugins = tuple(item for item in whole.plan.plugins if item.plugin_id in needed)
    return dataclasses.replace(whole, plan=model.StoragePlan(plugins=plugins, volumes=chosen), is_part=True)


def read_paths(paths: Iterable[Path], namespace: str) -> NamedPlan:
    """
    Return the plan of *paths*: specs, volume files, directories of volume files; *namespace*: of a file without one.

    Raises `errors.SpecError` with the problems of all files together.
    """
    plugins: list[model.PluginPlan] = []
    planned: list[model.VolumePlan] = []
    needed: dict[str, tuple[str, ...]] = {}
    broken: list[errors.SpecError] = []
    for path in _files(paths):
        try:
            if path.suffix in inputs.YAML:
                plan = inputs.read_plan(path)
                plugins += plan.plugins
                planned += plan.volumes
            else:
                for item in volume_file.read(path, namespace=namespace):
                    planned.append(model.VolumePlan(registration=item.document, source=None, protect=True, adopt=False))
                    needed[item.document.key] = item.secret_names
        except errors.SpecError as error:
            broken.append(error)
    _refuse(broken)
    counts = collections.Counter(item.key for item in planned)
    if twice := [key for key, count in counts.items() if count > 1]:
        allowed = "each volume once"
        problems = (errors.Problem(path=key, got=f"{counts[key]} of them", allowed=allowed) for key in twice)
        raise errors.SpecError(tuple(problems), ", ".join(map(str, paths)))
    return NamedPlan(plan=model.StoragePlan(plugins=tuple(plugins), volumes=tuple(planned)), needed=needed)


def _refuse(broken: list[errors.SpecError]) -> None:
    if len(broken) == 1:
        raise broken[0]
    if broken:
        problems = tuple(
            dataclasses.replace(problem, path=f"{error.source}: {error.named(problem.path)}")
            for error in broken
            for problem in error.problems
        )
        raise errors.SpecError(problems, source=f"{len(broken)} files")


WITHOUT_PULUMI = "without Pulumi, write `existing` or `create` instead of `ebs` or `efs`"
"""Fix for storage that only Pulumi creates."""


def refuse_unknown_storage(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> None:
    """Raise `errors.SpecError` naming every volume of *plan* that no plugin creates, and whose storage is unknown."""
    problems = tuple(
        errors.Problem(
            path=f"external id of {item.key}",
            got="nothing",
            allowed="the id of storage that is made by Pulumi",
            fix=f"pass --stack-output with the output of `pulumi stack output --json`; {WITHOUT_PULUMI}",
        )
        for item in plan.volumes
        if not item.made_by_plugin and not volumes.desired_document(item, external_ids).external_id
    )
    if problems:
        raise errors.SpecError(problems)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield *paths*; for a directory, the volume files below it. Raises `errors.SpecError` if it has none."""
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("*.volume.hcl"))
            if not found:
                problem = errors.Problem(path="", got="none", allowed="*.volume.hcl below the directory")
                raise errors.SpecError((problem,), str(path))
            yield from found
        else:
            yield path
