"""
One sandbox from `up` to `down`: its folder, its processes, its environment, the engine it runs.

What is real and what stands in is decided once, at the first `up`, and shown in every output.
"""
