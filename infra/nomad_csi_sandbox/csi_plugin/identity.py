"""CSI's Identity service, as the played driver answers it. Part of the CSI driver emulator."""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

import threading
import time
from pathlib import Path
from typing import Any

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import drivers, ec2, faults, status

HEALTHY_FOR_S = 3 * 3600.0
"""How long an EBS controller believes EC2's answer. Source: aws-ebs-csi-driver v1.64.0, ``pkg/cloud/cloud.go``."""


class Identity(csi_pb2_grpc.IdentityServicer):
    """Says who the driver is; an EBS controller asks EC2 whether it may."""

    def __init__(
        self, driver: drivers.Driver, cloud: ec2.Ec2 | None, fault_file: Path | None, ended: threading.Event
    ) -> None:
        self._driver = driver
        self._cloud = cloud
        self._fault_file = fault_file
        self._ended = ended
        self._healthy_until = 0.0

    def GetPluginInfo(self, _request: Any, _context: Any) -> Any:
        """Answer name and version."""
        wrong = faults.read(self._fault_file)
        return csi_pb2.GetPluginInfoResponse(
            name=wrong.name or self._driver.provider, vendor_version=wrong.version or self._driver.version
        )

    def GetPluginCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer what the driver claims in every mode."""
        service, expansion = csi_pb2.PluginCapability.Service, csi_pb2.PluginCapability.VolumeExpansion
        entries = [csi_pb2.PluginCapability(service=service(type=kind)) for kind in self._driver.services]
        if self._driver.expansion:
            entries.append(csi_pb2.PluginCapability(volume_expansion=expansion(type=self._driver.expansion)))
        return csi_pb2.GetPluginCapabilitiesResponse(capabilities=entries)

    def Probe(self, _request: Any, context: Any) -> Any:
        """Answer "ready" as the driver says it; an EBS controller fails when EC2 does not let it ask."""
        match faults.read(self._fault_file).probe:
            case "error":
                raise status.StatusError("FAILED_PRECONDITION", "Failed health check (fault on order)")
            case "not-ready":
                reply = csi_pb2.ProbeResponse()
                reply.ready.value = False
                return reply
            case "hang":
                while context.is_active() and not self._ended.wait(0.05):
                    pass
        self._ask_ec2()
        reply = csi_pb2.ProbeResponse()
        if self._driver.says_ready:
            reply.ready.value = True
        return reply

    def _ask_ec2(self) -> None:
        if self._cloud is None or time.monotonic() < self._healthy_until:
            return
        try:
            self._cloud.dry_run()
        except ec2.Ec2Error as error:
            raise status.StatusError(
                "FAILED_PRECONDITION",
                "Failed health check (verify network connection and IAM credentials): "
                f"dry-run EC2 API call failed: {error}",
            ) from error
        self._healthy_until = time.monotonic() + HEALTHY_FOR_S
