r"""
Text of HCL, in both dialects that Nomad reads: job files are HCL2, volume files HCL1, ``nomad fmt`` reads both as HCL2.

`documents` renders jobs and volume files from ``templates/`` at the top of the project, which has the text of each
(``volume.volume.hcl.j2``); `files` and `project` write those of a plan and of `init`, `layout` formats
the text, `quote` escapes each value. `read` reads a file back, `parser` decides which expressions it
evaluates, `job` and `volume` make a payload of it. Only here is Jinja2 (`environment`).

What a file means for a spec is in `migration`, what is wrong with it in `diagnosis.file_rules`.

The reader is our own: no library for Python reads HCL1, and python-hcl2 (8.1.4) leaves ``\u0024`` and ``\U0001F389``
undecoded and accepts duplicate keys. The Nomad emulator uses python-hcl2, so that the tests compare two readers;
``tests/real`` compares ours with Nomad's.
"""
