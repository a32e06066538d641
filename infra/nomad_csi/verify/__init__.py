"""Expected against found. Pure comparison: findings are data; a failed verification is a result, not an error."""
