"""Views of runs: lines of arithmetic, tables and figures of numbers computed elsewhere."""
