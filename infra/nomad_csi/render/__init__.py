"""
Text that Nomad reads: plugin jobs and volume files, from the Jinja2 templates; files written and checked.

Takes plan documents, returns strings. Not here: anything that knows an address, a token or a rule about storage.
"""
