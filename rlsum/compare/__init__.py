"""Several trainings of one start, compared by every metric."""
