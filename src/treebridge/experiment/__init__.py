"""The paper's table and figures, baselines, and the demo."""
