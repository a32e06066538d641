"""Code generated from ``proto/csi.proto`` by ``make proto``. Not edited by hand."""
