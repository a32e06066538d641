"""
Make texts of other programs safe to show: `redaction` hides secrets, `foreign` escapes control characters. Pure.

Errors of calls redact their own text (`errors`); `nomad.request` adds its token to what is hidden.
"""
