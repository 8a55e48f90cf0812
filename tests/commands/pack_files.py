"""The expected files in the packs of questions and cards."""

QUESTIONS = {"README.md", "questions.gift", "questions-moodle.xml"}
QUESTIONS |= {"questions-qti.zip", "questions-canvas.zip"}
DECK = "attention-by-hand.apkg"
