"""What a reader computes: fresh numbers, exercises with their verdicts, worksheets; and bugs."""
