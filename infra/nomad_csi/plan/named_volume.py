"""A volume by its name in a cluster: what orders, statuses and outcomes of single volumes have in common. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedVolume:
    """Something that is said of one volume."""

    namespace: str
    volume_id: str

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"
