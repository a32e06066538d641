"""
Make texts of other programs safe to show: `redaction` hides secrets, `foreign` escapes control characters. Pure.

`secrets` has what the name or form of a secret is, `spellings` how a known secret is searched for, and from which
length on. Errors of calls redact their own text (`errors`); `nomad.request` adds its token to what is hidden.
"""
