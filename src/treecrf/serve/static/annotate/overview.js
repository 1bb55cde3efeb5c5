// Sentences of the page about the whole annotation: what is asked, how far one is, what to do with it.

import { element } from "../dom.js";

/** Which words are marked, and where what is confirmed goes. */
export function explanation({ threshold, share, about, out }) {
  const what = { heads: "head", relations: "relation", both: "head or relation" }[about];
  const which =
    share === null
      ? `words whose ${what} the parser is less than ${Math.round(threshold * 100)}% sure of`
      : `the ${Math.round(share * 100)}% of words whose ${what} the parser is least sure of`;
  return `Marked with ? are ${which}. What you confirm is saved in ${out} at once.`;
}

/** How far one is; `place` is that of the sentence that is shown, if there is one. */
export function progressText({ done, skipped, total, heads }, place) {
  const parts = [`${done} of ${total} sentences done`, `${heads} ${heads === 1 ? "head" : "heads"} confirmed`];
  if (skipped) parts.splice(1, 0, `${skipped} skipped`);
  if (place) parts.unshift(`Sentence ${place}`);
  return parts.join(" · ");
}

/** The command that trains on a file, starting from the model that asked. */
export function command({ file, model }) {
  const gently = "--set learning_rate=1e-4"; // a few sentences must not undo what the model knows
  return `treecrf train --train ${file} --dev DEV.conllu --init ${model} ${gently} --out next`;
}

/** What to say where there is no question. */
export function nothingToAsk() {
  return [
    element("h2", {}, "There is nothing to ask about."),
    element("p", {}, "The parser is sure of every word by this measure. A higher one asks about more:"),
    element("pre", {}, "treecrf annotate … --threshold 0.95"),
  ];
}
