"""
The common parts of custom resources: their interface, their properties, and the comparison of these.

Which property is secret, or replaces the resource, is a mark at its field in the package of the resource. Secret are
``secrets`` of a volume (`volumes.volume_properties`) and the credentials of the provider (`provider.settings`).
"""
