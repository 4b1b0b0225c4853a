"""Working memory: what the model is shown."""
