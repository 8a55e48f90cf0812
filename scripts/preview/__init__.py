"""The preview: a server that shows an edit as soon as it is saved.

`watching` starts here and watches the files. `pages` keeps Sphinx in memory in a separate process;
it reads and writes again each page that was saved or is viewed, and runs cells as the build does.
`serving` serves the written pages and reloads them in browsers at the same position (`client.js`).
The preview has a folder of its own; only `build.py` publishes.
"""
