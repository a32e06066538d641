"""From files to a spec: plugins from jobs, volumes from volume files, and remarks on both."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue, storage_identity
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import aws_storage, model, plugins, volumes
from nomad_csi.plan import registration, storage
from nomad_csi.spec import draft, names
from nomad_csi.spec import model as spec


def adopt(
    files: Sequence[parsed.File],
    *,
    aws_region: str = "",
    remarks: model.Remarks | None = None,
    providers: Mapping[str, str] | None = None,
    terraform_storage: aws_storage.AwsStorage | None = None,
    takes_over: bool = False,
) -> model.Adoption:
    """
    Return the spec for *files*; *aws_region* goes into plugins of AWS whose jobs name none.

    *remarks* are those from reading the files; *providers* are the driver names that plugins report in a cluster, by
    the plugin's id. *terraform_storage* is the AWS storage in a Terraform state; where *takes_over*, the volumes'
    storage is declared with it.

    Raises `errors.SpecError` for a volume that Nomad itself would refuse.
    """
    remarks = remarks or model.Remarks()
    by_plugin = _parts(files, remarks)
    bodies = [(file, content) for file in files for content in file.volumes]
    known = {
        plugin_id: next((driver for part in each if (driver := model.row_of(part.task))), None)
        for plugin_id, each in by_plugin.items()
    }
    documents, adopted = [], []
    for file, content in bodies:
        plugin_id = jobs.text(content, "plugin_id")
        driver = known[plugin_id] if plugin_id in known else volumes.driver_of(content)
        adopted.append(volumes.adopt(content, driver, file.name, remarks))
    for plugin_id, each in by_plugin.items():
        modes: list[Any] = []
        for volume in adopted:
            if volume.get("plugin_id") == plugin_id:
                modes += [mode for mode in volume.get("capabilities", ()) if mode not in modes]
        documents.append(plugins.adopt(plugin_id, each, modes, remarks))
    aws_storage.fill(adopted, terraform_storage or {}, remarks, takes_over=takes_over)
    _fill_sharing(adopted)
    documents += _plugins_of(bodies, known, remarks)
    for document in documents:
        if isinstance(document["driver"], dict) and (provider := (providers or {}).get(document["id"])):
            document["driver"] = {"provider": provider} | document["driver"]
    _fill_region(documents, adopted, aws_region)
    whole = {name: items for name, items in (("plugins", documents), ("volumes", adopted)) if items}
    spec_document = {name: [_shortened(_KINDS[name], item) for item in items] for name, items in whole.items()}
    if files:
        where = {
            jobs.text(content, "plugin_id"): (file.name, content.at("plugin_id")) for file, content in reversed(bodies)
        }
        where |= {plugin_id: (each[0].file, each[0].plugin.body.line) for plugin_id, each in by_plugin.items()}
        _report_refusals(whole, bodies, where, remarks, files[0].name)
    for file in files:
        if file.policy is not None:
            text = "a spec contains no IAM policies: with iam.role_name of the plugin, Pulumi creates one that fits"
            remarks.add("note", file.name, 1, text)
    order = {file.name: index for index, file in enumerate(files)}
    ordered = sorted(remarks.entries, key=lambda remark: (order.get(remark.file, len(order)), remark.line))
    return model.Adoption(document=spec_document, remarks=tuple(ordered))


_KINDS: Mapping[str, type[spec.Model]] = {"plugins": spec.PluginSpec, "volumes": spec.VolumeSpec}

_ABSENT = frozenset({"neither", "none", "none of them", "nothing"})
"""What a problem of the spec has where no file holds the value."""

_ITEM = re.compile(r"(plugins|volumes)\[(\d+)\]\.?(.*)")


def _report_refusals(
    document: Mapping[str, Any],
    bodies: Sequence[tuple[parsed.File, values.Map]],
    where: Mapping[str, tuple[str, int]],
    remarks: model.Remarks,
    file: str,
) -> None:
    """
    Add a remark, at its line, for each value of *document* that lacks or is invalid.

    *where*: file and line of each plugin: of its first job, else of its first volume; *file* is for all others.
    """
    try:
        storage.plan_document(document)
    except errors.SpecError as error:
        for problem in error.problems:
            match = _ITEM.fullmatch(problem.path)
            sort: model.Kind = "missing" if problem.got in _ABSENT else "wrong"
            if match is None:
                remarks.add(sort, file, 1, str(problem))
                continue
            kind, index, rest = match[1], int(match[2]), match[3]
            if rest == "plugin_id":
                continue  # no file runs the plugin, which is reported
            item = document[kind][index]
            if kind == "volumes":
                name, line = bodies[index][0].name, volumes.line_of(bodies[index][1], rest)
            else:
                name, line = where[item["id"]]
            subject = f"{kind[:-1]} {item.get('id')}"
            text = str(dataclasses.replace(problem, path=f"{rest} of {subject}" if rest else subject))
            if rest == "driver.provider":
                text += f"; `nomad plugin status {item['id']}` shows it"
            remarks.add(sort, name, line, text, code=problem.code)


def _parts(files: Sequence[parsed.File], remarks: model.Remarks) -> dict[str, list[model.Part]]:
    """Return the tasks that run plugins, by the plugin's id."""
    by_plugin: dict[str, list[model.Part]] = {}
    for file in files:
        for job in file.jobs:
            for group, task, plugin in job.plugins():
                part = model.Part(file=file.name, job=job, group=group, task=task, plugin=plugin)
                by_plugin.setdefault(plugin.id, []).append(part)
            if not any(job.plugins()):
                used = sorted({request.source for group in job.groups for request in group.volumes})
                what = f"it uses {', '.join(used)}" if used else "it uses no CSI volume"
                text = f"job {job.id} runs no CSI plugin, so nothing of it goes into the spec: {what}"
                remarks.add("note", file.name, job.body.line, text)
    return by_plugin


def _plugins_of(
    bodies: Sequence[tuple[parsed.File, values.Map]],
    known: dict[str, catalogue.Driver | None],
    remarks: model.Remarks,
) -> list[dict[str, Any]]:
    """Return the plugins that volumes name without a job file, with the catalogue's defaults."""
    documents: dict[str, dict[str, Any]] = {}
    for file, content in bodies:
        plugin_id = jobs.text(content, "plugin_id")
        if plugin_id in known or plugin_id in documents:
            continue
        driver = volumes.driver_of(content)
        line = content.at("plugin_id")
        if driver is None:
            text = f"the plugin {plugin_id}: no file runs it, and the volume does not show which driver it is"
            remarks.add("missing", file.name, line, text)
            continue
        documents[plugin_id] = {"id": plugin_id, "driver": driver.name}
        text = (
            f"no file runs the plugin {plugin_id}: the spec has {driver.called} as in the catalogue; "
            "if it already runs, pass its job files too"
        )
        remarks.add("note", file.name, line, text)
    return list(documents.values())


def _fill_region(documents: Sequence[dict[str, Any]], adopted: Sequence[dict[str, Any]], aws_region: str) -> None:
    """Put *aws_region*, else the region of its volumes' zones, into each plugin that needs one and names none."""
    for document in documents:
        driver = catalogue.find(document["driver"])
        if not isinstance(driver, catalogue.Driver) or not driver.uses_aws or "aws_region" in document:
            continue
        sources = (
            volume.get("existing", volume.get("create", volume.get("ebs", {})))
            for volume in adopted
            if volume.get("plugin_id") == document["id"]
        )
        of_zones = {names.region_of_zone(str(source.get("availability_zone", ""))) for source in sources} - {""}
        regions = {aws_region} if aws_region else of_zones
        if len(regions) == 1:
            [document["aws_region"]] = regions


def _fill_sharing(adopted: Sequence[dict[str, Any]]) -> None:
    """Set ``shares_storage`` on volumes that share the storage of an earlier one, where they may."""
    earlier: set[storage_identity.StorageIdentity] = set()
    for volume in adopted:
        external_id = str(volume.get("existing", {}).get("external_id", ""))
        identity = storage_identity.identify(external_id)
        modes = [str(mode.get("access_mode", "")) for mode in volume.get("capabilities", ())]
        if external_id and identity in earlier and modes and registration.is_shareable(modes):
            volume["shares_storage"] = True
        earlier.add(identity)


def _shortened(kind: type[spec.Model], item: Mapping[str, Any]) -> dict[str, Any]:
    """Return *item*, a *kind*, without values that are the default of the spec; as it is, where it is not complete."""
    checked = draft.check(kind, item, "", [])
    if checked is None:
        return dict(item)
    short = checked.model_dump(mode="json", exclude_defaults=True, exclude_unset=True)
    return {name: value or item[name] for name, value in short.items()}
