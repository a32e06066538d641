"""Measurements. ``make bench`` runs all of them; ratios against a baseline of the same run, never a status."""
