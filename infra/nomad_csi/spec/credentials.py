"""Where a plugin's secrets come from."""

import pydantic

from nomad_csi.spec import base


class VaultSpec(base.Model):
    """A secret in Vault."""

    path: base.Word
    """Such as ``secret/data/democratic-csi``, of a version 2 key-value store."""

    role: base.Text = ""
    """Vault role; empty: the agent's default."""


class WorkloadIdentitySpec(base.Model):
    """An AWS role that the plugin takes on with the identity that Nomad signs for its task (OIDC)."""

    role_arn: base.RoleArn
    """Its trust policy names the cluster's OIDC provider."""

    audience: base.Word = "sts.amazonaws.com"
    """Whom the token is for, as the role's trust policy says."""


class CredentialsSpec(base.Model):
    """Where the plugin's tasks get their secrets from. Absent: the instance role, for drivers of AWS."""

    nomad_variable: base.VariablePath | None = None
    """
    Path of a Nomad variable in the plugin's namespace.

    Without an ACL policy every job may read ``nomad/jobs``, and a job of its own what is below ``nomad/jobs/JOB_ID``.
    """

    vault: VaultSpec | None = None
    workload_identity: WorkloadIdentitySpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "CredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault", "workload_identity"))
        return self


class RegistryCredentialsSpec(base.Model):
    """Where user name and password for the image's registry come from: the items ``username`` and ``password``."""

    nomad_variable: base.VariablePath | None = None
    vault: VaultSpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "RegistryCredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault"))
        return self
