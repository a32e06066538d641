"""Volumes of volume files, as a command applies them."""

from nomad_csi.plan import model
from nomad_csi.volumes import desired, ownership


def wanted(documents, requester=ownership.NO_OWNER):
    """Return *documents* as *requester* wants them."""
    plans = [model.VolumePlan(registration=each, source=None, protect=False, adopt=False) for each in documents]
    return [desired.of_plan(plan, plan.registration, requester) for plan in plans]
