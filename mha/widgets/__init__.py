"""Interactive figures and exercise boxes of pages and notebooks, with their scripts and styles."""
