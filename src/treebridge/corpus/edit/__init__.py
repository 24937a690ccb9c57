"""Edits of a CoNLL-U file: pure functions on sentences, and a file that loses nothing."""
