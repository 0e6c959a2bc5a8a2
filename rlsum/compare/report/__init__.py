"""What a comparison shows beyond its tables: over-optimisation, power, and the chain from agreement to preference."""
