"""The worksheets of a class: options, files, and answers in machine-readable form."""

import argparse
import codecs
import csv
import hashlib
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import raises
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sheet_reader import wrong

from mha.practice.worksheets import TASKS, Seed, Student, draw_worksheet, write_key, write_sheet
from mha.practice.worksheets.answers import as_csv, as_json
from mha.practice.worksheets.class_list import read_class
from mha.practice.worksheets.command import AFTER_PROJECTION, add_options, draw_worksheets, main
from mha.practice.worksheets.files import write_all
from mha.practice.worksheets.model_worksheet import LETTERS, ModelSheet
from mha.practice.worksheets.seeds import GRADING, key_for

ROOT = Path(__file__).parents[2]
TWO = ["--seed", "5", "--students", "2"]
FILES = ["answers-5.csv", "answers-5.json", "key-5.md", "worksheets-5.md"]


def sheets_of(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return draw_worksheets(parser.parse_args(arguments))


def class_list(folder, text):
    path = folder / "class.csv"
    path.write_text(text, encoding="utf-8")
    return path


def answers_of(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


# ---- Which sheets are drawn ----


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--seed=5", "--students=301"], "--students is 301; 1 to 300 is wanted"),
        ([*TWO, "--causal", "--stages=key,scores"], "--causal changes nothing of key, scores, wh"),
        ([*TWO, "--stages=odd"], f"--stages has 'odd'; one of {', '.join(TASKS)[:-8]} is wanted"),
        ([*TWO, "--stages=output"], "--stages has 'output', which one head has not; --heads 2 or"),
        ([*TWO, "--sentence=cat"], "--sentence 'cat' has 1 word; 2 to 8 are wanted"),
        ([*TWO, "--sentence=a b", "--tokens=3"], "--sentence 'a b' has 2 words; at least 3 are"),
        ([*TWO, "--sentence=the cat the"], "--sentence has 'the' twice; words that differ are"),
        ([*TWO, "--tokens=8", "--difficulty=easy"], "--difficulty easy has no short numbers for 8"),
        (["--seed=5", "--class=none.csv"], "none.csv cannot be read: No such file"),
        (["--secret=none", "--students=1"], "none cannot be read: No such file or directory; `py"),
        (["--secret=short", "--students=1"], "short has 5 letters; a secret of at least 32 is wa"),
    ],
)
def test_an_invalid_option_is_named_as_typed(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("12345")
    Path("made").mkdir()
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "made"])
    assert str(stopped.value).startswith(f"error: {sentence}")
    assert list(Path("made").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"student": 0}, "student is 0; a whole number of at least 1 is wanted"),
        ({"seed": -1}, "seed is -1; a number that is not negative is wanted"),
        ({"stages": ["output"]}, f"stage is 'output'; one of {', '.join(TASKS)[:-8]} is wanted"),
        ({"stages": []}, "stages is empty; at least one stage is wanted"),
    ],
)
def test_invalid_worksheets_are_refused(arguments, sentence):
    with raises(ValueError, sentence):
        draw_worksheet(**{"seed": 1, "student": 1, **arguments})


def test_sentences_take_turns():
    assert len({made.run.tokens for made in sheets_of("--seed=5", "--students=7")}) == 6
    two = ("--sentence", "a b c d", "--sentence", "e f")
    theirs = sheets_of("--seed=5", "--students=3", *two)
    assert [" ".join(made.run.tokens) for made in theirs] == ["a b c d", "e f", "a b c d"]
    assert sheets_of(*TWO, *two[:2], "--tokens=2")[1].run.tokens == ("a", "b")


@pytest.mark.parametrize("stages", [None, ["mask", "output"]])
def test_no_column_of_a_layer_s_output_is_a_multiple_of_another(stages):
    # Of seed 2, student 16 had two equal columns before they were drawn anew.
    for student in range(10, 20):
        made = draw_worksheet(2, student, difficulty="easy", num_heads=2, stages=stages)
        assert np.linalg.matrix_rank(made.run.output, tol=1e-9) == 2, student


def test_a_lesson_asks_what_it_is_about_unless_told_otherwise():
    asked = {lesson: sheets_of(*TWO, f"--lesson={lesson}")[0] for lesson in (2, 4, 5, 8, 11)}
    assert (asked[2].stages, len(asked[2].run.tokens)) == (AFTER_PROJECTION, 3)
    assert "mask" in asked[4].stages
    assert "mask" in asked[8].stages
    assert (asked[5].run.num_heads, asked[5].stages[-1]) == (2, "output")
    assert asked[11].stages == ("exponentials", "weights")
    named = sheets_of(*TWO, "--lesson=2", "--sentence=one two three")
    assert named[0].run.tokens == ("one", "two", "three")
    assert "mask" not in sheets_of(*TWO, "--lesson=4", "--no-causal")[0].stages
    assert sheets_of(*TWO, "--lesson=4", "--stages=scores")[0].stages == ("scores",)


@pytest.mark.parametrize("lesson", [None, 2, 4, 5, 8])
def test_the_default_sheets_take_about_twenty_minutes_by_their_operations(lesson):
    sheets = [
        made
        for seed in range(1, 11)
        for made in sheets_of(
            f"--seed={seed}", "--students=5", *([f"--lesson={lesson}"] if lesson else [])
        )
    ]
    assert {made.difficulty for made in sheets} == {"easy"}
    minutes = [made.effort.minutes for made in sheets]
    assert 12 <= min(minutes) <= max(minutes) <= 24
    assert 15 <= np.mean(minutes) <= 20
    # Easy numbers are few, but no two sheets of a class are alike.
    assert len({write_key(made).partition("\n")[2] for made in sheets}) == len(sheets)


def test_the_effort_of_a_sheet_counts_the_signs_of_its_key():
    made = draw_worksheet(3, 1, difficulty="hard", stages=["scores", "exponentials", "weights"])
    lines = [line for line in write_key(made).splitlines() if line.startswith("- ")]
    parts = [line.partition(": ")[2].split(" ≈ ")[0].split(" = ")[0] for line in lines]
    without_work = [
        sum(
            bool({"0", "1", "−1"} & {x.strip("()") for x in term.split("×")})
            for term in part.split(" + ")
        )
        for part in parts
    ]
    products = sum(part.count("×") for part in parts) - sum(without_work)
    effort = made.effort
    assert effort.short_products + effort.long_products == products
    assert effort.numbers == len(lines)
    assert effort.calculator == sum("$e^" in part or "÷" in part for part in parts)
    assert f"About {effort.minutes} minutes for {effort.operations} operations and" in write_key(
        made
    )
    assert f"About {effort.minutes} minutes." in write_sheet(made)
    (one,) = json.loads(as_json([made]))
    assert (one["minutes"], one["operations"]) == (effort.minutes, effort.operations)


def test_no_student_seed_lesson_or_secret_has_the_numbers_of_another(tmp_path):
    seeds = [Seed(7), *(Seed(5, lesson) for lesson in range(1, 13)), Seed(lesson=2)]
    seeds += [
        Seed(lesson=lesson, secret=key * 32) for lesson, key in ((2, b"a"), (2, b"b"), (4, b"a"))
    ]
    sheets = [draw_worksheet(5, student) for student in range(1, 32)]
    sheets += [draw_worksheet(seed, 1) for seed in seeds]
    assert len({made.run.embeddings.tobytes() for made in sheets}) == len(sheets)
    assert len({str(seed) for seed in seeds}) == len(seeds)
    stories = {ModelSheet(Seed(5, lesson), Student(1)).story for lesson in range(13)}
    assert len(stories) > 10  # there are few stories
    # A new student in the class changes no other sheet.
    before = read_class(class_list(tmp_path, "name,id\nBo,b1\nCy,c1\n")).students
    _, *after = read_class(class_list(tmp_path, "name,id\nAl,a1\nBo,b1\nCy,c1\n")).students
    for old, new in zip(before, after, strict=True):
        ours, theirs = draw_worksheet(7, old).run, draw_worksheet(7, new).run
        assert (ours.embeddings == theirs.embeddings).all()
        assert ours.tokens == theirs.tokens


def test_a_causal_sheet_has_the_mask_between_scaled_scores_and_exponentials():
    named = ",".join(stage for stage in TASKS if stage != "output")
    (made, _) = sheets_of(*TWO, "--causal", f"--stages={named}")
    assert made.stages == tuple(stage for stage in TASKS if stage != "output")
    assert made.run.weights[0, 0].tolist() == [1, 0, 0]
    scaled, masked = (write_key(made).split("\n\n5\\.")[1].split("\n\n6\\.")[i] for i in (0, 1))
    assert "∞" not in scaled
    assert masked.partition("\n\n7\\.")[0].count("−∞ |") == 3
    assert wrong(write_sheet(made), write_key(made)) == (12 + 12 + 6 + 9 * 3 + 12 + 9 + 6, [])


# ---- Output files ----


def test_a_class_gets_its_sheets_one_key_and_the_answers(tmp_path):
    main(["--seed=5", "--students=3", "--stages=key,scores", "--model", str(tmp_path)])
    texts = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert sorted(texts) == sorted([*FILES, "model-5.md", "model-key-5.md"])
    of_model, key_of_model = texts["model-5.md"], texts["model-key-5.md"]
    assert (of_model.count("## "), of_model.count("Head A"), key_of_model.count("Next: ")) == (
        *(3, 3, 3),
    )
    sheets, keys = texts["worksheets-5.md"], texts["key-5.md"]
    for student in (1, 2, 3):  # the same seed gives the same sheet again
        one = draw_worksheet(5, student, difficulty="easy", stages=["scores", "key"])
        assert write_sheet(one) in sheets
        assert write_key(one) in keys
        given = {table.caption for task in one.tasks for table in task.given}
        assert given.isdisjoint(table.caption for task in one.tasks for table in task.tables)
    assert sheets.startswith("# Worksheets, seed 5\n\n## Worksheet 1 (seed 5, easy)\n")
    assert sheets.count("\n## ") == keys.count("\n## ") == 3


@pytest.mark.parametrize("arguments", [[], ["--causal", "--heads", "2"], ["--stages", "weights"]])
def test_the_answers_for_programs_are_those_of_the_key(arguments):
    sheets = sheets_of(*TWO, *arguments)
    rows = answers_of(as_csv(sheets))
    for made, one in zip(sheets, json.loads(as_json(sheets)), strict=True):
        mine = [row for row in rows if row["sheet"] == str(one["sheet"])]
        assert wrong(write_sheet(made), write_key(made)) == (len(mine), [])
        assert [row["answer"] for row in mine] == [answer["answer"] for answer in one["answers"]]
        cells = write_key(made).replace("−∞", "-inf").replace("−", "-").split()
        assert all(row["answer"] in cells or row["answer"] + "0" in cells for row in mine)
        for row in mine:
            assert (row["off_by"] == "0") is (row["stage"] not in made.error_bounds)
        assert one["points"] == sum(len(table.rows) for task in made.tasks for table in task.tables)


# Special characters of HTML, Markdown and TeX, and a combining accent.
STRANGE = ("</script>", "<b>\"a'</b>", "*a*_b_", "$c$", "\\d^{e}%", "&lt;", "e^x", "`e\u0301#~`")
NAMES = ('<i>Ada</i> & "Bo" | \\emph{e}', "*Cy* $x$ {eval}`1` # Di </script>Eve")


def test_user_texts_are_escaped_in_the_sheets_and_the_key(tmp_path, capsys):
    table = io.StringIO()
    rows = [("name", "id"), *((name, f"*{i}*") for i, name in enumerate(NAMES))]
    csv.writer(table).writerows(rows)
    path = class_list(tmp_path, table.getvalue())
    main(["--seed", "5", "--class", str(path), "--sentence", " ".join(STRANGE),
          "--difficulty", "hard", "--heads", "2", str(tmp_path)])  # fmt: skip
    said = f"class.csv names 2 students, such as {NAMES[0]}, with the id *0*\n"
    assert capsys.readouterr().out == said
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin)
    for name in ("worksheets-5.md", "key-5.md"):
        soup = BeautifulSoup(markdown.render((tmp_path / name).read_text("utf-8")), "html.parser")
        assert soup.find(["script", "i", "b", "code", "eq"]) is None
        heads = " ".join(found.get_text() for found in soup.find_all("h2"))
        words = [cell.get_text() for cell in soup.find_all(["td", "th"])]
        assert all(f"{student}, *{i}*" in heads for i, student in enumerate(NAMES))
        assert all(words.count(token) >= 4 * len(NAMES) for token in STRANGE)
    lines = [item.get_text() for item in soup.find_all("li")]
    for token in STRANGE:
        assert sum(line.startswith((f"{token}, ", f"{token} with ")) for line in lines) >= 20, token
    answers = answers_of((tmp_path / "answers-5.csv").read_text("utf-8"))
    assert {row["row"] for row in answers} == set(STRANGE)
    assert {row["student"] for row in answers} == set(NAMES)


def test_no_spreadsheet_takes_a_word_for_a_formula(tmp_path):
    path = class_list(tmp_path, "name,id\n=1+1,+2\n@Bo,-3\n")
    sheets = sheets_of("--seed=5", "--class", str(path), "--sentence", "=a -b", "--heads=2")
    rows = answers_of(as_csv(sheets))
    assert {(row["student"], row["id"]) for row in rows} == {("'=1+1", "'+2"), ("'@Bo", "'-3")}
    assert {row["row"] for row in rows} == {"'=a", "'-b"}
    assert min(float(row["answer"]) for row in rows) < 0
    assert json.loads(as_json(sheets))[0]["student"] == "=1+1"


def test_tables_open_in_excel_as_they_are_written(tmp_path):
    main([*TWO, "--sentence=Žofie čte", "--tokens=2", str(tmp_path)])
    data = (tmp_path / "answers-5.csv").read_bytes()
    assert data.startswith(codecs.BOM_UTF8)
    assert data.count(b"\n") == data.count(b"\r\n") > 2
    assert "Žofie" in {row["row"] for row in answers_of(data.decode())}


def test_every_table_is_written_by_one_module():
    writers = [
        path.relative_to(ROOT).as_posix()
        for folder in ("mha", "scripts", "book/_ext")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"\bcsv\.(writer|DictWriter)\b", path.read_text(encoding="utf-8"))
    ]
    assert writers == ["mha/practice/spreadsheet.py"]


def test_a_term_stands_in_one_folder_and_nothing_is_overwritten(tmp_path):
    for lesson in ("2", "4"):
        main([*TWO, "--lesson", lesson, str(tmp_path)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(before) == [f"lesson-{n}-{name}" for n in ("02", "04") for name in FILES]
    main([*TWO, "--lesson=2", str(tmp_path)])  # the same again
    other = [*TWO, "--lesson=2", "--difficulty=hard", str(tmp_path)]
    (tmp_path / "lesson-02-answers-5.csv").unlink()
    del before["lesson-02-answers-5.csv"]
    with pytest.raises(SystemExit) as stopped:
        main(other)
    assert str(stopped.value) == (
        f"error: {tmp_path / 'lesson-02-worksheets-5.md'} has other contents, and so are"
        " 2 more files; another folder is wanted, another --lesson or --seed, or --force, which"
        " replaces these files"
    )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    main([*other, "--force"])
    assert "hard" in (tmp_path / "lesson-02-worksheets-5.md").read_text("utf-8")


def test_an_unwritable_file_leaves_the_other_files_unchanged(tmp_path):
    (tmp_path / "a").write_bytes(b"before")
    (tmp_path / "b").mkdir()
    with pytest.raises(ValueError, match="b has other contents; another folder"):
        write_all(tmp_path, {"a": b"after", "b": b""}, force=True)
    with pytest.raises(OSError, match="No such file"):
        write_all(tmp_path, {"a": b"after", "none/c": b""}, force=True)
    assert (tmp_path / "a").read_bytes() == b"before"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_with_a_secret_the_sheets_say_nothing_that_draws_them(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a" * 32 + "\n")
    made = tmp_path / "made"
    made.mkdir()
    main(["--secret", str(secret), "--students=2", "--lesson=2", str(made)])
    seed = Seed(lesson=2, secret=b"a" * 32)
    first = draw_worksheet(seed, 1, difficulty="easy", stages=AFTER_PROJECTION)
    files = {path.name: path.read_text("utf-8") for path in made.iterdir()}
    named = f"-check-{seed.check}"
    assert sorted(files) == [f"lesson-02-{name.replace('-5', named)}" for name in FILES]
    assert write_sheet(first) in files[f"lesson-02-worksheets{named}.md"]
    assert f"## Worksheet 1 (lesson 2, check {seed.check}, easy)" in write_sheet(first)
    assert not any("seed" in text or "a" * 32 in text for text in files.values())


# ---- Two tasks from the trained model ----


@pytest.mark.parametrize("number", range(1, 21))
def test_what_the_model_s_tables_ask_has_one_answer_and_the_key_has_it(number):
    made = ModelSheet(Seed(7), Student(number))
    rows = np.arange(1, 6)
    back = [weights[rows, rows - 1].mean() for weights in made.maps[:2]]
    assert LETTERS[int(np.argmax(back))] == made.letter(0)
    finds = [weights[-1, 1] for weights in made.maps]
    assert LETTERS[int(np.argmax(finds))] == made.letter(3)
    last, key = made.runs[-1], made.key()
    logits = dict(zip(last.example.vocabulary, last.logits[-1], strict=True))
    assert max(logits, key=logits.get) == made.story[1]
    assert f"Previous word: {made.letter(0)}. After the same word: {made.letter(3)}." in key
    sums = re.findall(r": (.+) = (.+)$", key, re.MULTILINE)
    for (terms, total), word in zip(sums, (made.story[1], made.story[4]), strict=True):
        numbers = [float(t.strip("()").replace("−", "-")) for t in terms.split(" + ")]
        assert sum(numbers) == pytest.approx(float(total.replace("−", "-")))
        assert sum(numbers) == pytest.approx(logits[word], abs=0.005 * len(numbers))


def test_the_key_of_one_purpose_gives_no_other():
    for secret in (b"a" * 32, b"b" * 64, b"c" * 200):
        grading = key_for(secret, GRADING)
        # A secret of more than 64 bytes is hashed once to be the key of each HMAC.
        assert grading != hashlib.sha256(secret).digest()
        sheets = [Seed(lesson=2, secret=key) for key in (secret, grading)]
        assert sheets[0].rng(1).random() != sheets[1].rng(1).random()
    assert Seed(lesson=2, secret=b"a" * 32).check == "880840", "printed sheets keep their numbers"
