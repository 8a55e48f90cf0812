"""What a teacher is given: worksheets, questions, slides, figures and notebooks."""
