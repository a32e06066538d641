"""A wait for a claim that ends."""

import threading

from nomad_csi.nomad import jobs, volumes
from nomad_csi.volumes import deregistration


def soon(change):
    """Do *change* a little later, from another thread."""
    timer = threading.Timer(0.3, change)
    timer.start()
    return timer


def test_deregistration_goes_on_when_the_claim_is_gone(agent, client, ran, consumer, fresh, volume):
    """Without asking in between."""
    job_id, volume_id = fresh("brief"), fresh("brief")
    agent.register(volume(volume_id))
    ran(job_id, consumer(job_id, volume_id))
    agent.until_status(job_id, "running")
    timer = soon(lambda: jobs.stop(client, "default", job_id, purge=False))

    [outcome] = deregistration.deregister(
        client, [("default", volume_id)], deregistration.DeregistrationOptions(wait_s=60)
    )
    timer.join()

    assert (outcome.status, volumes.get(client, "default", volume_id)) == ("deregistered", None)
