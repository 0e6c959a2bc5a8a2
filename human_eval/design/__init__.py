"""From outputs of several systems to a study: alignment, balanced sides, attention checks, the secret key."""
