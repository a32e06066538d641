"""Job files read into the API's jobs. Part of the emulator of Nomad."""
