// Around a tree: undo and redo, the best trees, downloads.

import { button, element } from "./dom.js";

export class Toolbar {
  #undo;
  #redo;
  #free;
  #rank = element("span", { class: "rank" });
  #better;
  #worse;
  #turn;

  /** `actions` are undo, redo, freeAll, step, turn, edit (null where words stay) and download. */
  constructor({ undo, redo, freeAll, step, turn, edit, download }) {
    this.#undo = button("↶", { title: "Undo", keys: "Ctrl+Z", press: undo });
    this.#redo = button("↷", { title: "Redo", keys: "Ctrl+Y", press: redo });
    this.#free = button("Free all", { press: freeAll });
    this.#better = button("‹", { title: "Better tree", keys: "[", press: () => step(-1) });
    this.#worse = button("›", { title: "Next best tree", keys: "]", press: () => step(1) });
    this.#turn = button("", { press: turn });
    const words = button("Words …", { title: "Split or join words", keys: "W", press: edit });
    const groups = [
      [this.#undo, this.#redo, this.#free],
      [named("Tree"), this.#better, this.#rank, this.#worse],
      edit ? [this.#turn, words] : [this.#turn],
    ];
    const files = Object.entries(download).map(([text, press]) =>
      button(text, { title: `Download ${text}`, press }),
    );
    this.downloads = element("div", { class: "group downloads" }, named("Download"), ...files);
    this.node = element(
      "div",
      { class: "toolbar", role: "group", "aria-label": "What to do with this sentence" },
      ...groups.map((group) => element("div", { class: "group" }, ...group)),
    );
  }

  /** `rank` is that of the tree that is shown, 0 for none; `trees` how many are known, or null. */
  show({ canUndo, canRedo, constraints, rank, trees }) {
    disable(this.#undo, !canUndo);
    disable(this.#redo, !canRedo);
    disable(this.#free, constraints === 0);
    this.#rank.textContent = rank ? `${rank} of ${trees} best` : "surest";
    disable(this.#better, rank === 0);
    disable(this.#worse, trees !== null && rank >= trees);
  }

  /** Say what the button for the layout does with a tree that goes from top to bottom, or does not. */
  showLayout(isDown) {
    const says = isDown ? "Draw the tree from left to right" : "Draw the tree from top to bottom";
    this.#turn.textContent = isDown ? "↔ Across" : "↕ Down";
    this.#turn.title = `${says} (V)`;
    this.#turn.setAttribute("aria-label", says);
  }
}

/** Say that a button does nothing now. It keeps the focus, and the keys of the sentence go on working. */
function disable(node, isDisabled) {
  node.setAttribute("aria-disabled", String(isDisabled));
}

function named(text) {
  return element("span", { class: "group-name" }, text);
}
