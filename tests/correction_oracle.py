"""An independent check of the red pencil: a document as it reads with some slips corrected.

Pages correct documents in TypeScript (`mha/widgets/src/engine/corrections.ts`). The tests compare
the script with this function, which follows each number with the audit's own rules.
"""

from collections.abc import Collection, Sequence

from mha.audit.judging import Judgement, _judged, run_of
from mha.audit.page import Page
from mha.audit.sources import Number


def judge_corrected(numbers: Sequence[Number], corrected: Collection[int]) -> tuple[Judgement, ...]:
    """Judge a document in which the numbers at some indices are corrected.

    A corrected number follows from the numbers before it, in float64. A number that was right given
    the numbers before it changes with them; a slip that is not corrected stays as it is printed.
    The `number` of each judgement is still the printed one.
    """
    page, changed = Page(numbers, None, run_of), set[int]()
    follows = [
        number.place is not None and number.kind != "input" and page.follows(spot)
        for spot, number in enumerate(numbers)
    ]
    for spot in range(len(numbers)):
        if spot in corrected or follows[spot]:
            value, used = page.local(spot)
            if spot in corrected or not changed.isdisjoint(used):
                page.printed[spot] = page.meant[spot] = value
                changed.add(spot)
    return tuple(_judged(page))
