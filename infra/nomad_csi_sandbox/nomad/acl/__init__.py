"""ACL tokens, policies and rights. Part of the emulator of Nomad."""
