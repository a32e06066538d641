"""Volumes registered with Nomad and deregistered again, one or thousands: compared, sent, and an outcome for each."""
