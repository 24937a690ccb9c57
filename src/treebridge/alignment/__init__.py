"""Pairs → links: which word translates which."""
