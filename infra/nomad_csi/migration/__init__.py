"""Import existing job and volume files, Terraform state, or a running cluster into a spec."""
