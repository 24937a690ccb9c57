"""Bridges and parsing on many processes and machines with Ray, with identical results."""
