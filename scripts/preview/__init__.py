"""The preview: serve the book, and show an edit as soon as it is saved.

`watching` begins here: it watches the files, and passes on what was saved. `pages` keeps Sphinx in
memory, in a process of its own: it reads and writes a page again that was saved or is looked at,
and runs cells by way of the kept results. `serving` serves what it has written, and has the
browsers load it at the same place (`client.js`). The pages stand in a folder of their own: what is
published is made by `build.py` alone.
"""
