"""From text to terms, sentences and chunks: one analyzer for every store."""
