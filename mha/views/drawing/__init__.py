"""Drawing of figures; `mha.views.figures` has the public names.

`svg` writes elements and text, `canvas` arranges panels as a `Figure`, and each other module draws
one kind of figure. Colours, fonts and lines are in ``figures.css``.
"""
