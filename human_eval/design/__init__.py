"""From the outputs of several systems to a study: alignment, sides, attention checks, blinding, the key."""
