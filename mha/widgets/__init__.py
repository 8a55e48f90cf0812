"""What a reader works with on a page: the explorer and the boxes, with their scripts and styles."""
