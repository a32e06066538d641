"""The Pulumi program of this project: the spec under ``nomad-csi:storage`` of the stack's config, made and proven."""

from nomad_csi.components import stack

stack.run()
