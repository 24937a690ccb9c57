"""The same work on many processes and machines, led by Ray; the result is the same."""
