"""What a reader sees of a run: arithmetic, tables, figures. No mathematics is done here."""
