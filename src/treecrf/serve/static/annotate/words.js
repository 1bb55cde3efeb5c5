// Beside the relations of a word: its tag, and the tokens of the text, both to be corrected.

import { button, element } from "../dom.js";
import { explained } from "../glossary.js";
import { chooseLabel } from "../labels.js";
import { chooseTokens } from "./tokens.js";

const TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split(" ");

/** What is listed of a word; `retag(id)` and `recut(id)` are for whoever wants that changed. */
export function wordRow(token, { tags, retag, recut }) {
  const isCorrected = token.id in tags;
  const says = `Change the tag of ${token.form}, now ${token.upos ?? "none"}`;
  const meaning = token.upos ? explained(token.upos) : "no tag";
  return element(
    "div",
    { class: "chips" },
    element("p", { class: "relation-name" }, "Tag:"),
    button(token.upos ?? "none", {
      class: `chip plain of-tag${isCorrected ? " is-head" : ""}`,
      "aria-label": isCorrected ? `${says}, corrected` : says,
      title: `${meaning}${isCorrected ? ", corrected" : ""}. Change it (P)`,
      press: () => retag(token.id),
    }),
    button("split, join …", {
      class: "chip plain",
      title: `Split ${token.form}, or join it with the word beside it`,
      keys: "W",
      press: () => recut(token.id),
    }),
  );
}

/** Let a person choose the tag of a word; its editor decides it. */
export async function retag(editor, id) {
  if (editor.isLeft) return;
  const token = editor.tokens[id - 1];
  const others = editor.tokens.map((other) => other.upos).filter(Boolean); // those of another tagset
  const tag = await backTo(editor, id, () =>
    chooseLabel({
      what: "Tag",
      labels: [...new Set([...TAGS, ...others])],
      form: token.form,
      current: token.upos,
      fixed: id in editor.latest.tags,
      likely: [],
      none: "No such tag",
      freeing: "as it was",
    }),
  );
  if (tag === undefined || editor.isLeft) return;
  const tags = { ...editor.latest.tags };
  if (tag === null) delete tags[id];
  else tags[id] = tag;
  const says = tag === null ? "is as it was" : `is corrected: ${tag}`;
  await editor.change({ ...editor.latest, tags }, `The tag of «${token.form}» ${says}.`, id);
}

/** Let a person choose other tokens at a word of a sentence; undefined for none. */
export function recut(item, id) {
  if (item.editor.isLeft) return undefined;
  const { written, original, text } = item;
  const isCorrected = item.editor.latest.tokens !== null;
  return backTo(item.editor, id, () =>
    chooseTokens({ tokens: written, word: id, text, original: isCorrected ? original : null }),
  );
}

/** Ask something, and put the focus back where it was, also if all was drawn anew meanwhile. */
async function backTo(editor, id, ask) {
  const before = document.activeElement;
  const answer = await ask();
  if (!before.isConnected) editor.tree.focus(id);
  return answer;
}
