"""What the book writes for its search: the words of a section."""

import pytest

from byhand.search.sections import read_sections


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("a<em>b</em>c", "abc"),
        ("<p>a<p>b", "a b"),
        ("a<br>b<hr/>c", "a b c"),
        ("<table class='numbers table'><caption>Of words</caption><td>1</td></table>", "Of words"),
        ("<table class='numbers words'><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("<table class='heat'><tr><td>cat</td></tr></table>", ""),
        ("<a-widget><caption>x</caption>y</a-widget>z", "z"),
        ("<figure><svg><text>x</text></svg><figcaption>a line</figcaption></figure>", "a line"),
        ("<math><msubsup><mi>W</mi><mi>h</mi><mi>O</mi></msubsup></math>", "W_h^O"),
        ("<math><mfrac><mn>1</mn><mi>n</mi></mfrac><mo>\u2062</mo><mi>𝐱</mi></math>", "1/nx"),
        ("<math><mi>abcdefghijklmnopqrstuvwxyz</mi></math>", ""),
        ("<p>More, and <code>code</code> in it.</p><pre>hidden = 1</pre>", "More, and code in it."),
        ("<section id='box'><p>b</p></section>c", "b c"),
    ],
)
def test_the_words_of_a_piece(html, text):
    sections = read_sections(f"<section id='s'><h2>H</h2>{html}</section>after")
    assert [(s.heading, s.text) for s in sections] == [("H", text)]
