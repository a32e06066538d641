"""Options, inputs, confirmations, output and errors that several commands share."""
