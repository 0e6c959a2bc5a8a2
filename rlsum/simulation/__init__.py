"""A simulated corpus: stories whose facts are known, policies that summarize them, and word vectors trained on them."""
