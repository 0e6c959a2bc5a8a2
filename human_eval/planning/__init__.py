"""Planning a study: its power by simulation, scenarios, and the pre-registration."""
