"""A spec in which all is set at once: each field of its plan, with the values that only one place of the spec has."""

from pathlib import Path

import pydantic
import yaml

from nomad_csi.plan import model, storage
from tests import tables

FILE = Path(__file__).with_name("everything.yaml")


def planned(spec):
    """Return the plan as data."""
    plan = storage.plan_document(spec, owner=spec["owner"])
    return pydantic.TypeAdapter(model.StoragePlan).dump_python(plan, mode="json", exclude_defaults=True)


def main():
    """Write the plan."""
    head, _, _ = FILE.read_text(encoding="utf-8").partition("\nplan:")
    plan = {"plan": planned(tables.load(FILE)["spec"])}
    text = yaml.safe_dump(plan, sort_keys=False, width=200, default_flow_style=None)
    FILE.write_text(f"{head}\n{text}", encoding="utf-8")


def test_plan_is_the_one_that_is_recorded():
    """Which was read and found right."""
    everything = tables.load(FILE)

    assert planned(everything["spec"]) == everything["plan"]


if __name__ == "__main__":
    main()
