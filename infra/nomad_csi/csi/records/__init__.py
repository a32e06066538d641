"""What is asked over CSI and answered, as plain data. Nothing here imports gRPC."""
