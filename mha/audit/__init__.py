"""The audit of five published explanations: each printed number is recomputed and judged.

``python -m mha.audit`` prints its results.
"""
