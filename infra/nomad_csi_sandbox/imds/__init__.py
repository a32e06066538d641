"""
An emulator of the instance metadata service of EC2, so that a node plugin finds out which instance it runs on.

It knows version 2 only (a token first), and of its paths those that the AWS CSI drivers ask for. It hands out no
credentials. Not here: anything about volumes; that is EC2's business, played by moto.
"""
