// What a person decides about a sentence: asked for at once, and part of its history when it is taken.

import { History } from "./history.js";

export class Decisions {
  #history;
  #watch;
  #turn = 0; // how often something was asked for
  #answered = 0; // the latest turn that the history knows of
  #changes = 0; // the turns that were no undo or redo
  #wanted = null; // what was decided last, as long as there is no answer
  #taking = Promise.resolve(); // when there is an answer to all that was asked for

  /**
   * `present` has what is decided, `decisions`, and the `answer` to it. Of `watch`, `began()` is called
   * when something is asked for, `shown(told)` when the present is what was decided last, and
   * `refused(error)` when that could not be taken; the present is then what was taken before it.
   */
  constructor(present, watch) {
    this.#history = new History(present);
    this.#watch = watch;
    this.settled = Promise.resolve(); // when the last decision is shown; false if it could not be taken
  }

  get present() {
    return this.#history.present;
  }

  /** What was decided last, even if it is not shown yet: two quick decisions are both taken. */
  get latest() {
    return this.#wanted ?? this.present.decisions;
  }

  get canUndo() {
    return this.#history.peek("undo") !== undefined;
  }

  get canRedo() {
    return this.#history.peek("redo") !== undefined;
  }

  /** Decide something; `ask(decisions)` gives the answer, `told` is for `shown`. */
  change(decisions, ask, told) {
    this.#changes += 1;
    this.settled = this.#take(decisions, ask, told, (answer) => this.#history.add({ decisions, answer }));
    return this.settled;
  }

  /** Undo or redo what was decided last; `ask`, where given, is told of what is decided then. */
  travel(way, ask, told) {
    const changes = this.#changes;
    return this.afterwards(() => {
      const there = this.#history.peek(way);
      // After another decision it would be unclear what is undone.
      if (!there || changes !== this.#changes) return true;
      return this.#take(there.decisions, ask, told, () => this.#history.travel(way));
    });
  }

  /** Decide something when there is an answer to the last decision; nothing, if that is refused. */
  afterwards(act) {
    const before = this.settled;
    const done = async () => (await before) !== false && act();
    this.settled = done();
    return this.settled;
  }

  #take(decisions, ask, told, keep) {
    this.#turn += 1;
    this.#wanted = decisions;
    this.#watch.began();
    this.#taking = this.#answer(this.#turn, ask?.(decisions), { told, keep, before: this.#taking });
    return this.#taking;
  }

  async #answer(turn, asked, { told, keep, before }) {
    let answer;
    try {
      answer = await asked;
    } catch (error) {
      await before; // what is refused may have been made on top of what is not
      if (turn === this.#turn) this.#refuse(error);
      return false;
    }
    if (turn < this.#answered) return true; // a later one, made on top of it, has overtaken it
    this.#answered = turn;
    keep(answer);
    if (turn !== this.#turn) return true; // the answer to a later one will be shown
    this.#wanted = null;
    this.#watch.shown(told);
    return true;
  }

  /** Who waits for the decision is told, who comes later need not wait. */
  #refuse(error) {
    this.#wanted = null;
    this.settled = Promise.resolve();
    this.#watch.refused(error);
  }
}
