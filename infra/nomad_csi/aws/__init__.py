"""AWS asked over boto3, read-only: what has our tags, and what is attached where. What is made is made by Pulumi."""
