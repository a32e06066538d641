"""The commands of ``nomad-csi csi``: their options, their requests, and how answers print."""
