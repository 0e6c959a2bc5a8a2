"""The similarity family of contextual vectors: SBERT, CKA, MoverScore, BERTScore, TRWMD, TWMD; and what is fitted."""
