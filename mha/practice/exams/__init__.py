"""Exams with fresh numbers: two parallel forms, a marking scheme and a formula sheet.

`steps` computes chains of printed numbers, `problems` draws the calculations of each chapter,
`cards` asks about published models, `exam` draws a whole exam, and `text` writes it as Markdown and
JSON. ``python3 scripts/build.py exam`` prints the PDFs; it also reads the questions in words from
the chapters and their marking schemes from ``book/marking.toml``.
"""
