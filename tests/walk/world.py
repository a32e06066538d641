"""AWS, two clusters and both providers in this process, shared by all walks of a run and emptied between them."""

import contextlib
import functools
from unittest import mock

from nomad_csi.aws import calls
from tests.walk import clusters, providers
from tests.walk.cloud import Cloud

CLUSTERS = ("east", "west")


class World:
    """Everything that is not a state."""

    def __init__(self, cluster=clusters.Cluster):
        with contextlib.ExitStack() as made:
            self.cloud = Cloud()
            made.callback(self.cloud.close)
            self.environment = self.cloud.environment
            self.clusters = {name: cluster(self.environment) for name in CLUSTERS}
            for each in self.clusters.values():
                made.callback(each.close)
            self.providers = made.enter_context(providers.served(self.environment))
            # a client of the SDK costs a third of a second of reading descriptions of services
            self._client = functools.cache(calls.client)
            self._ends = made.pop_all()

    @contextlib.contextmanager
    def quick(self):
        """Ask AWS by clients that are kept; of a test, and of no other."""
        with mock.patch.object(calls, "client", self._client):
            yield

    def close(self):
        self._ends.close()

    def empty(self):
        """Forget everything."""
        self.cloud.empty()
        for each in self.clusters.values():
            each.empty()

    def facts(self):
        """Return all storage, and what each volume of each cluster is registered for."""
        return self.cloud.storage(), {name: each.registered() for name, each in self.clusters.items()}
