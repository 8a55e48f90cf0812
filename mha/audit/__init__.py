"""What five published explanations print, recomputed and judged: ``python -m mha.audit``."""
