"""From job and volume files that somebody wrote by hand to a spec, and what is to be said about it. Pure."""
