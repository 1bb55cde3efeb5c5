// Undo and redo of what a person decided about a sentence.

export class History {
  #ways = { undo: [], redo: [] };

  constructor(present) {
    this.present = present;
  }

  /** What there would be after undo or redo; undefined where there is nothing. */
  peek(way) {
    return this.#ways[way].at(-1);
  }

  /** Go on to a new present; what was undone is forgotten. */
  add(present) {
    this.#ways.undo.push(this.present);
    this.#ways.redo = [];
    this.present = present;
  }

  /** Undo or redo, where `peek` says that one can. */
  travel(way) {
    this.#ways[way === "undo" ? "redo" : "undo"].push(this.present);
    this.present = this.#ways[way].pop();
  }
}
