"""What operators have already, as a spec: job and volume files, Terraform state, and a cluster as it runs."""
