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
  show({ canUndo, canRedo, held, rank, trees }) {
    this.#undo.disabled = !canUndo;
    this.#redo.disabled = !canRedo;
    this.#free.disabled = held === 0;
    this.#rank.textContent = rank ? `${rank} of ${trees} best` : "surest";
    this.#better.disabled = rank === 0;
    this.#worse.disabled = trees !== null && rank >= trees;
  }
}

function named(text) {
  return element("span", { class: "group-name" }, text);
}
