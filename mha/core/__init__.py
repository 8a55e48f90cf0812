"""The mathematics: pure functions on arrays, which know nothing of examples and pages."""
