"""The rules: each finds the conditions of `findings/codes.yaml` that belong to one subject. Pure."""
