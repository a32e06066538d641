"""The Nomad half of `pulumi up`, from the command line: what would change, and the plugins and volumes themselves."""
