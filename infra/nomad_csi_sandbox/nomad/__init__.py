"""
An emulator of a Nomad agent: HTTP routes, a scheduler for a few nodes, tasks as plain processes, CSI supervision.

It answers as the recorded agent did (2.0.6-dev, ``tests/nomad/recordings``): same status codes, bodies, headers and
error sentences. What it is not: it keeps everything in memory, it isolates nothing (``exec`` tasks are plain
processes without mounts), it has one server and no log, and it never mounts a volume. It listens on 127.0.0.1 only.
"""
