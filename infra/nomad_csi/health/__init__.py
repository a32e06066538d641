"""Health of CSI plugins: compare Nomad's status and CSI probe results with a plan."""
