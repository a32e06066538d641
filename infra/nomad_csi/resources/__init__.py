"""What each custom resource does when it is checked, compared, created, read, updated and deleted. No Pulumi import."""
