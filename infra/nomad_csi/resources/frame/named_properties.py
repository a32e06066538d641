"""Properties that several resources have: their patterns and what these say stand here, what they are for at each."""

from nomad_csi.resources.frame import properties
from nomad_csi.spec import names


def namespace(description: str, *, replaces: bool = True) -> properties.Property:
    """Return a Nomad namespace, ``default`` when omitted."""
    return properties.text(
        description,
        default="default",
        replaces=replaces,
        pattern=names.NAMESPACE,
        pattern_says="up to 128 letters, digits and '-'",
    )


def plugin_id(description: str, *, replaces: bool = True) -> properties.Property:
    """Return the id of a CSI plugin."""
    return properties.text(
        description,
        required=True,
        replaces=replaces,
        pattern=names.PLUGIN_ID,
        pattern_says="up to 63 letters, digits, '.', '_' and '-', the first a letter or digit",
    )
