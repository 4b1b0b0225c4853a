"""Recall: from a query to hits, each with its reasons."""
