"""All drivers by name."""

from collections.abc import Mapping

from nomad_csi.drivers import aws_ebs, aws_efs, model

DRIVERS: Mapping[str, model.Driver] = {driver.name: driver for driver in (aws_ebs.DRIVER, aws_efs.DRIVER)}
