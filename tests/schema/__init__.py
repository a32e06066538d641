"""What is generated from the components and the custom resources: the package schema, its examples and the stubs."""
