"""Both providers in this process, for engines that attach to them; a walk kills them at a call of its choice."""

import asyncio
import contextlib
import threading
from concurrent import futures
from dataclasses import dataclass

import grpc
import grpc.aio
from pulumi.runtime.proto import provider_pb2_grpc

from nomad_csi import errors
from nomad_csi.provider import hosting
from nomad_csi.provider import servicer as own_servicer
from nomad_csi_sandbox.aws.provider import servicer as aws_servicer

THREADS = 16
IDENTITY = ":StackIdentity"
"""Its calls, which come first, change nothing outside of the state, and are not counted."""


@dataclass(kw_only=True)
class Fault:
    """What is to go wrong."""

    at: int
    """At which call that changes something, from 0."""

    kind: str
    """``kill before``, ``kill after``: engine and providers end there."""


class Gate:
    """What every call passes that changes something."""

    def __init__(self):
        self.kill_engine = lambda: None
        self._lock = threading.Lock()
        self.reset(None)

    def reset(self, fault):
        """Begin an operation, with a *fault* or none."""
        with self._lock:
            self.fault = fault
            self.calls = []
            self.is_killed = False

    def passed(self, call, urn, work):
        """Do the *work* of a *call* for *urn*, as far as the fault lets it come."""
        with self._lock:
            if self.is_killed:
                raise errors.RefusedError("killed")
            what = urn.rpartition("::")[0].rpartition("$")[2].rpartition("::")[2]
            is_here = self.fault is not None and self.fault.at == len(self.calls) and not what.endswith(IDENTITY)
            kind = self.fault.kind if is_here else ""
            if not what.endswith(IDENTITY):
                self.calls.append((call, what))
        if kind == "kill before":
            self._kill()
        done = work()
        if kind == "kill after":
            self._kill()
        return done

    def _kill(self):
        """End: what the provider would answer, nobody hears."""
        self.is_killed = True
        self.kill_engine()
        raise errors.RefusedError("killed")


class Own(own_servicer.Servicer):
    """Our provider."""

    def __init__(self, gate, environment):
        super().__init__(hosting.Hosted(), [], "", environment)
        self._gate = gate

    @own_servicer._answered
    def Create(self, request):  # noqa: N802
        return self._passed("Create", request)

    @own_servicer._answered
    def Update(self, request):  # noqa: N802
        return self._passed("Update", request)

    @own_servicer._answered
    def Delete(self, request):  # noqa: N802
        return self._gated("Delete", request)

    def _passed(self, call, request):
        return self._work(call)(self, request) if request.preview else self._gated(call, request)

    def _gated(self, call, request):
        return self._gate.passed(call, request.urn, lambda: self._work(call)(self, request))

    @staticmethod
    def _work(call):
        """Return our provider's work of a *call*, without the thread that it is done in."""
        return getattr(own_servicer.Servicer, call).__wrapped__


class Aws(aws_servicer.Servicer):
    """The emulator of the ``aws`` provider."""

    def __init__(self, gate, environment):
        super().__init__(environment["AWS_ENDPOINT_URL"], environment)
        self._gate = gate

    def Create(self, request, context):  # noqa: N802
        return self._passed("Create", request, context, super().Create)

    def Update(self, request, context):  # noqa: N802
        return self._passed("Update", request, context, super().Update)

    def Delete(self, request, context):  # noqa: N802
        return self._gated("Delete", request, context, super().Delete)

    def _passed(self, call, request, context, work):
        return work(request, context) if request.preview else self._gated(call, request, context, work)

    def _gated(self, call, request, context, work):
        try:
            return self._gate.passed(call, request.urn, lambda: work(request, context))
        except errors.RefusedError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))


class Providers:
    """Both, served."""

    def __init__(self, environment):
        self.gate = Gate()
        self._aws = grpc.server(futures.ThreadPoolExecutor(THREADS))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(Aws(self.gate, environment), self._aws)
        aws_port = self._aws.add_insecure_port("127.0.0.1:0")
        self._aws.start()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        own_port = asyncio.run_coroutine_threadsafe(self._serve_own(environment), self._loop).result(60)
        self.attached = f"nomad-csi:{own_port},aws:{aws_port}"

    async def _serve_own(self, environment):
        asyncio.get_running_loop().set_default_executor(futures.ThreadPoolExecutor(THREADS))
        self._own = grpc.aio.server()
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(Own(self.gate, environment), self._own)
        port = self._own.add_insecure_port("127.0.0.1:0")
        await self._own.start()
        return port

    def close(self):
        """End both."""
        asyncio.run_coroutine_threadsafe(self._own.stop(1.0), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._aws.stop(1.0).wait()


@contextlib.contextmanager
def served(environment):
    """Serve both for as long as the block runs."""
    made = Providers(environment)
    try:
        yield made
    finally:
        made.close()
