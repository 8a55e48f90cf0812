"""The book as an EPUB 3, made of what the build of the pages left."""
