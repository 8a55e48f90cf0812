"""What a reader sees of a run: lines of arithmetic, tables, figures. No mathematics is done here."""
