"""
What follows from a spec and the catalogue: policies, plugin jobs, volume registrations, what to expect.

Pure. Every rule that joins two things of the spec, or the spec and a driver, stands here.
"""
