"""Contract suites and stand-ins for those who write a store or an embedder of their own."""
