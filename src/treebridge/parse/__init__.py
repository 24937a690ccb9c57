"""Vectors to trees: the parser, its decoder and the scorer."""
