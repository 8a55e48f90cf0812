/** The origin of a number of the model: its name, and the block in which it is computed. */

import { homeOf, originIn, sharesAt } from "../engine/model-arithmetic.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { model as texts } from "../strings/model.ts";
import { explorer } from "../strings/explorer.ts";
import type { About } from "../types/looking.ts";
import type { ModelOrigin, ModelSpot, ModelView } from "../types/panels.ts";
import type { Place } from "../types/run.ts";

const { places: placeTexts } = explorer;

/** The stages with a column for each word of the vocabulary. */
const OF_WORDS = ["unembedding", "logits", "cooled_logits", "word_exponentials", "probabilities", "shares"];

/** The stages after both blocks. */
const AT_THE_END = [...OF_WORDS, "word_sums", "stream_means", "stream_spreads", "stream_normed", "parts"];

/** The name of a number. */
function nameOf(view: ModelView, block: number, place: Place) {
  const { columns, rows } = stages[place.stage];
  const word = (i: number) => `${view.words[view.state.words[i]]} (${i + 1})`;
  const part = (i: number) => String(i + 1);
  const column = OF_WORDS.includes(place.stage) ? view.words[place.column]
    : columns === "keys" ? word(place.column) : part(place.column ?? 0);
  const isMatrix = rows && rows !== "places";
  const head = ["parts", "shares"].includes(place.stage) ? texts.partNames[place.head]
    : String((place.head ?? 0) + 1);
  const what = fill(texts.places[place.stage] ?? placeTexts[place.stage],
    { row: isMatrix ? part(place.row) : word(place.row), column, head });
  if (AT_THE_END.includes(place.stage)) return what;
  const where = place.head === null || ["parts", "shares"].includes(place.stage)
    ? String(block + 1) : `${block + 1}, head ${place.head + 1}`;
  return fill(place.stage === "stream" ? texts.after : texts.inBlock, { what, block: where });
}

/** The data of the model for the line of arithmetic. */
export const aboutOf = (view: ModelView): About<ModelSpot, ModelOrigin> => ({
  name: ({ block, place }) => nameOf(view, block, place),
  origin: ({ block, place }) => {
    if (["parts", "shares"].includes(place.stage)) sharesAt(view.found, place.row ?? 0);
    return originIn(view.found, block, place);
  },
  given: ({ place }) => (place.stage === "embeddings"
    ? fill(texts.wordOf, { word: view.words[view.state.words[place.row]] }) : texts.given),
  source: (operand, { block }, from) =>
    homeOf(from.blocks.get(operand) ?? block, (operand.place as Place)),
});
