"""
Render the text that Nomad reads, plugin jobs and volume files, from Jinja2 templates; write and check the files.

Takes plan documents, returns strings. Contains no addresses, tokens or rules about storage.
"""
