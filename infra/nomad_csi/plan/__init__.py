"""
The plan of a spec and the catalogue: policies, plugin jobs, volume registrations, expectations.

Pure. Every rule that combines two parts of the spec, or the spec and a driver, belongs here.
"""
