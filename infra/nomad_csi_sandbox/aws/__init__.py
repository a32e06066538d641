"""
AWS on a laptop: moto's server, what an operator's account holds already, and a provider that stands in for ``aws``.

All of it is an emulator. Everything listens on 127.0.0.1 and everything that calls out accepts loopback addresses only.
"""
