"""
The plan of a spec and the catalogue: plugin jobs, volume registrations, expectations, IAM policies.

Pure. Every rule that combines two parts of the spec, or the spec and a driver, belongs here. `iam` has the actions of
the policies, `volumes` the tags of what is created, `program_jobs` the jobs that run this program on the clients.
"""
