"""The Pulumi program of this project: the spec under ``nomad-csi:storage`` of the stack's config, made and verified."""

from nomad_csi import storage_stack

storage_stack()
