"""Course materials for teachers: worksheets, questions, cards, slides, figures and notebooks."""
