"""The book as an EPUB 3, made from the built pages."""
