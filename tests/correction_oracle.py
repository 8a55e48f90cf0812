"""An independent check of the red pencil: a document as it reads with some slips corrected.

Pages correct documents in TypeScript (`mha/widgets/src/engine/corrections.ts`). The tests compare
the script with this function, which follows each number with the audit's own rules.
"""

from collections.abc import Collection, Sequence

from mha.audit.document import Document
from mha.audit.judging import Judgement, _judge_all, run_of
from mha.audit.sources import Number


def judge_corrected(numbers: Sequence[Number], corrected: Collection[int]) -> tuple[Judgement, ...]:
    """Judge a document in which the numbers at some indices are corrected.

    A corrected number follows from the numbers before it, in float64. A number that was right given
    the numbers before it changes with them; a slip that is not corrected stays as it is printed.
    The `number` of each judgement is still the printed one.
    """
    document, changed = Document(numbers, None, run_of), set[int]()
    follows = [
        number.place is not None and number.kind != "input" and document.agrees_locally(index)
        for index, number in enumerate(numbers)
    ]
    for index in range(len(numbers)):
        if index in corrected or follows[index]:
            value, used = document.recompute(index)
            # Without a changed operand the printed, rounded number stays.
            if index in corrected or not changed.isdisjoint(used):
                document.printed[index] = document.meant[index] = value
                changed.add(index)
    return tuple(_judge_all(document))
