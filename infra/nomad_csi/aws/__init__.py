"""AWS over boto3: what has our tags, what is attached where; what deletes is in `deletion`, on the user's word."""
