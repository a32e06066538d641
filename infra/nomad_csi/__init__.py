"""CSI storage for HashiCorp Nomad on AWS, from one Pulumi program: made, run, registered and proven."""
