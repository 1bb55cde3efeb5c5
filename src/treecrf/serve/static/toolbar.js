// Around a tree: undo and redo, the best trees, downloads.

import { button, element } from "./dom.js";

export class Toolbar {
  #undo;
  #redo;
  #free;
  #rank = element("span", { class: "rank" });
  #better;
  #worse;

  /** `actions` are undo, redo, freeAll, step (null where there are no best trees) and download. */
  constructor({ undo, redo, freeAll, step, download }) {
    this.#undo = button("↶", { title: "Undo", keys: "Ctrl+Z", press: undo });
    this.#redo = button("↷", { title: "Redo", keys: "Ctrl+Y", press: redo });
    this.#free = button("Free all", { press: freeAll });
    this.#better = button("‹", { title: "Better tree", keys: "[", press: () => step(-1) });
    this.#worse = button("›", { title: "Next best tree", keys: "]", press: () => step(1) });
    const groups = [[this.#undo, this.#redo, this.#free]];
    if (step) groups.push([named("Tree"), this.#better, this.#rank, this.#worse]);
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
}

/** Say that a button does nothing now. It keeps the focus, and the keys of the sentence go on working. */
function disable(node, isDisabled) {
  node.setAttribute("aria-disabled", String(isDisabled));
}

function named(text) {
  return element("span", { class: "group-name" }, text);
}
