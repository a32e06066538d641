"""
Pulumi components, and the resource classes that a program imports.

They translate, name, parent and register. An ``if`` about storage belongs in ``spec``, ``drivers`` or ``plan``.
"""
