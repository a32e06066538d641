"""Where a plugin's secrets come from."""

import pydantic

from nomad_csi.spec import base


class VaultSpec(base.Model):
    """A secret in Vault."""

    path: base.Word
    """Path in a version 2 key-value store, such as ``secret/data/democratic-csi``."""

    role: base.Text = ""
    """Vault role; empty: the agent's default."""


class WorkloadIdentitySpec(base.Model):
    """An AWS role that the plugin assumes with the workload identity that Nomad signs for its task (OIDC)."""

    role_arn: base.RoleArn
    """ARN of the role. Its trust policy must name the cluster's OIDC provider."""

    audience: base.Word = "sts.amazonaws.com"
    """Audience of the token, as in the role's trust policy."""


class CredentialsSpec(base.Model):
    """Where the plugin's tasks get their secrets from. Absent: drivers of AWS use the instance role."""

    nomad_variable: base.VariablePath | None = None
    """
    Path of a Nomad variable in the plugin's namespace.

    Without an ACL policy, every job may read ``nomad/jobs``, and each job its own ``nomad/jobs/JOB_ID`` and below.
    """

    vault: VaultSpec | None = None
    workload_identity: WorkloadIdentitySpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "CredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault", "workload_identity"))
        return self


class RegistryCredentialsSpec(base.Model):
    """The secret with the login for the image's registry, in its items ``username`` and ``password``."""

    nomad_variable: base.VariablePath | None = None
    """Path of a Nomad variable in the plugin's namespace."""

    vault: VaultSpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "RegistryCredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault"))
        return self
