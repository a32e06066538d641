"""What several commands share: options and the question before a change (`options`), inputs, output and errors."""
