"""What people said of texts: the records, the readers of public data, one way to load them all."""
