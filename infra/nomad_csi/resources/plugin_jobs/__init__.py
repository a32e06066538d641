"""Plugin jobs: the resource `PluginJob`."""
