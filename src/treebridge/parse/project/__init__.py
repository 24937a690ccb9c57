"""Trees over links: what the source parser predicts, carried to the target sentence."""
