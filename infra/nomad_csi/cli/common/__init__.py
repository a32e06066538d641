"""What several commands share: options, inputs, questions, output and errors."""
