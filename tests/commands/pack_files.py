"""What the packs of questions and of cards hold."""

QUESTIONS = {"README.md", "questions.gift", "questions-moodle.xml"}
QUESTIONS |= {"questions-qti.zip", "questions-canvas.zip"}
DECK = "attention-by-hand.apkg"
