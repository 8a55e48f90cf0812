"""The expected files in the packs of questions, cards and the cartridge."""

QUESTIONS = {"README.md", "questions.gift", "questions-moodle.xml"}
QUESTIONS |= {"questions-qti.zip", "questions-canvas.zip"}
DECK = "attention-by-hand.apkg"
CARTRIDGE = "attention-by-hand.imscc"
