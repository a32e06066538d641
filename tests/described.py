"""A row of the driver catalogue as a spec describes a driver of its own."""

import yaml

from nomad_csi.drivers import catalogue, model
from nomad_csi.spec import driver

OF_THE_CATALOGUE = set(model.Driver.model_fields) - set(driver.DriverSpec.model_fields)
OF_ITS_ROLES = set(model.DriverRole.model_fields) - set(driver.RoleSpec.model_fields)


def described(name, **changes):
    """Return the row *name* as it would be written into a spec in YAML, with *changes* to each role."""
    row = catalogue.DRIVERS[name].model_dump(mode="json", exclude=OF_THE_CATALOGUE)
    row["roles"] = {
        role: {key: value for key, value in fields.items() if key not in OF_ITS_ROLES} | changes
        for role, fields in row["roles"].items()
    }
    return yaml.safe_load(yaml.safe_dump(row))
