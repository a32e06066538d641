"""Commands that change a cluster or a stack, and `plan`, which previews the changes."""
