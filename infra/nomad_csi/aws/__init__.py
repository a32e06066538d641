"""AWS over boto3: tagged resources and attachments; `deletion` deletes, after confirmation."""
