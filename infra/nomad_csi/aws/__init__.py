"""AWS asked over boto3, read-only: what exists under our tags. Everything that is made is made by Pulumi."""
