"""Texts that others wrote, made fit to be shown: secrets found and taken out, control characters spelled out. Pure."""
