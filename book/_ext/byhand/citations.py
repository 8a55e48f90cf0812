"""How a work is cited: by its authors and its year, in the text, its lists and notebooks.

Works by the same authors of the same year have a letter behind the year in the bibliography's file.
"""

from pybtex.database import Entry
from pybtex.richtext import Text


def authors_and_year(entry: Entry) -> tuple[str, str]:
    """Return by what a work is cited.

    Examples
    --------
    >>> from pybtex.database import Person
    >>> one, two, three = Person("Bridle, John S."), Person("Ba, Jimmy"), Person("de Jong, M.")
    >>> for people in ([one], [one, two], [three, one, two]):
    ...     print(authors_and_year(Entry("misc", {"year": "1990"}, {"author": people})))
    ('Bridle', '1990')
    ('Bridle and Ba', '1990')
    ('de Jong et al.', '1990')
    >>> authors_and_year(Entry("misc", {"year": "1990"}, {"author": [Person("{OpenAI}")]}))
    ('OpenAI', '1990')
    """
    names = [
        str(Text.from_latex(" ".join(person.prelast_names + person.last_names)))
        for person in entry.persons["author"]
    ]
    who = names[0] + " et al." if len(names) > 2 else " and ".join(names)
    return who, str(entry.fields["year"])
