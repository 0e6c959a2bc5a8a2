"""Word and sentence mover's similarity (WMS, SMS, S+WMS) on static vectors or on an encoder."""
