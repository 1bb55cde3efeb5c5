// Undo and redo of what a person decided about a sentence.

export class History {
  #past = [];
  #future = [];

  constructor(present) {
    this.present = present;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Go on to a new present; what was undone is forgotten. */
  add(present) {
    this.#past.push(this.present);
    this.#future = [];
    this.present = present;
  }

  undo() {
    if (!this.canUndo) return false;
    this.#future.push(this.present);
    this.present = this.#past.pop();
    return true;
  }

  redo() {
    if (!this.canRedo) return false;
    this.#past.push(this.present);
    this.present = this.#future.pop();
    return true;
  }
}
