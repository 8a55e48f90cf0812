"""The drawing of figures, by kind; `mha.views.figures` has the public names.

`svg` writes elements and text, `canvas` puts panels together as a `Figure`, and each other module
draws one kind of figure. How things look stands in ``figures.css``.
"""
