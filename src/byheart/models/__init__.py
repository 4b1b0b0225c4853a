"""Embedding models: the protocol, the packaged default, and the providers."""
