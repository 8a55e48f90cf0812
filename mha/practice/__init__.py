"""What a reader computes: fresh numbers, exercises, worksheets, steps; and bugs."""
