// A tree to work on: point at a word to see its other heads, choose a word and then its head.

import { element } from "./dom.js";
import { drawFitting } from "./fit.js";
import { SURE, percent } from "./scale.js";

/** What a screen reader says of a word. */
function describe(token, tokens, { asked, multiwords }) {
  const head = token.head === 0 ? "the root" : `head ${tokens[token.head - 1].form}`;
  const whole = multiwords.find(({ first, last }) => first <= token.id && token.id <= last);
  return [
    asked.has(token.id) ? `${token.form}, asked about` : token.form,
    whole ? `of ${whole.form}` : null,
    token.upos,
    token.head === 0 ? head : `${head}, word ${token.head}`,
    token.deprel_prob < SURE ? `${token.deprel} ${percent(token.deprel_prob)}` : token.deprel,
    token.fixed ? "fixed" : percent(token.prob),
  ]
    .filter(Boolean)
    .join(", ");
}

export class TreeView {
  #tokens = [];
  #marks = { asked: new Set(), multiwords: [] };
  #drawing = null;
  #layout = "auto"; // or `across`, or `down`, as somebody wants it
  #room = 0; // pixels for the tree and what is beside it
  #chosen = null;
  #hovered = null;
  #current = 1;
  #pointer = null; // where it is, if it is here
  #resting = null; // where it was when the tree was drawn: until it moves, it points at nothing
  #quiet = false; // the whole tree is seen after a change, until somebody goes to a word again

  /**
   * `pick(dependent, head)` is called for an arc that a person wants, `confirm(dependent)` for one that
   * is right as it is, `free(dependent)` for one to be let go, `relabel(dependent)` for a label to be
   * chosen, `look(id, isChosen)` when another word is looked at, and `pickOther(dependent, number)` for
   * the nth of the heads that are listed. As long as `mayChoose()` is false, no word can be chosen.
   * `laidOut({ isDown, isBeside })` tells how the tree is drawn, and whether there is room beside it;
   * `floor()` is down to where the window shows it.
   */
  constructor({ name, pick, confirm, free, relabel, look, pickOther, mayChoose, laidOut, floor }) {
    this.actions = { pick, confirm, free, relabel, look, pickOther, mayChoose, laidOut, floor };
    this.name = name;
    this.node = element("div", { class: "scroller" });
    this.node.addEventListener("click", (event) => this.#click(event));
    this.node.addEventListener("mousedown", (event) => {
      // The focus comes with the click: given now, it may scroll the word away from under a finger.
      if (event.target.closest(".word, .label")) event.preventDefault();
    });
    this.node.addEventListener("keydown", (event) => this.#press(event));
    this.node.addEventListener("pointerover", (event) => this.#hover(event));
    this.node.addEventListener("pointermove", (event) => this.#hover(event));
    this.node.addEventListener("pointerleave", () => this.#leave());
    this.node.addEventListener("focusin", (event) => this.#focused(event));
    this.node.addEventListener("focusout", () => this.#refresh());
  }

  /** The word whose head comes next, or null. */
  get chosen() {
    return this.#chosen;
  }

  /** Whether the tree goes from top to bottom. */
  get isDown() {
    return this.#drawing.isDown;
  }

  /** Draw the tree in the other layout, whatever fits. */
  turn() {
    this.#layout = this.isDown ? "across" : "down";
    this.#draw();
  }

  /** Draw the tree for a window in which it has so many pixels. */
  fit(room) {
    if (room === this.#room) return;
    this.#room = room;
    if (!this.#drawing) return;
    this.#draw();
    if (this.node.contains(document.activeElement)) this.#scrollTo(this.#current);
  }

  /**
   * Draw another tree of the same words; those of `changed` light up for a moment. A word that is chosen
   * stays chosen: an answer may come between two clicks. So does what is in view.
   */
  show(tokens, { asked = new Set(), askedHeads, askedRelations, multiwords = [], changed = [] } = {}) {
    this.#tokens = tokens;
    this.#marks = { asked, askedHeads, askedRelations, multiwords };
    this.#hovered = null;
    this.#resting = this.#pointer;
    this.#quiet = true;
    this.#current = Math.min(Math.max(this.#current, 1), tokens.length);
    this.#draw(changed);
  }

  #draw(changed = []) {
    const hadFocus = this.node.contains(document.activeElement);
    const anchor = this.#anchor();
    const before = this.#drawing && !this.isDown ? this.#placeOf(anchor) - this.node.scrollLeft : null;
    const room = this.#room || Infinity; // before it is in the page, nobody knows
    this.#drawing = drawFitting(this.#tokens, this.#marks, { layout: this.#layout, room });
    const { picture, words, arcs, isDown, isBeside } = this.#drawing;
    this.actions.laidOut({ isDown, isBeside });
    picture.setAttribute("role", "listbox");
    picture.setAttribute("aria-orientation", isDown ? "vertical" : "horizontal");
    picture.setAttribute("aria-label", this.name);
    for (const [id, word] of words) {
      word.setAttribute("role", "option");
      word.setAttribute("aria-selected", "false");
      word.setAttribute("tabindex", id === this.#current ? "0" : "-1");
      const says = id === 0 ? "Root" : describe(this.#tokens[id - 1], this.#tokens, this.#marks);
      word.setAttribute("aria-label", says);
    }
    for (const id of changed) arcs.get(id)?.classList.add("changed");
    this.node.replaceChildren(picture);
    if (before !== null && !isDown) this.node.scrollLeft = this.#placeOf(anchor) - before;
    if (hadFocus) this.#giveFocus(this.#current);
    this.#refresh();
  }

  /** The word that stays where it is when the tree is drawn again: the one that is pointed at, or near it. */
  #anchor() {
    if (!this.#drawing || this.isDown) return null;
    if (this.#hovered !== null) return this.#hovered;
    const { scrollLeft, clientWidth } = this.node;
    const x = this.#pointer ? this.#pointer[0] - this.node.getBoundingClientRect().left : clientWidth / 2;
    const distances = this.#tokens.map((_, index) => Math.abs(this.#placeOf(index + 1) - scrollLeft - x));
    return distances.indexOf(Math.min(...distances)) + 1;
  }

  /** Where the middle of a word is along the line of words. */
  #placeOf(id) {
    const { scale, rootPlace, places } = this.#drawing;
    return scale * (id === 0 ? rootPlace : places[id - 1]);
  }

  /** Put the focus on a word. */
  focus(id) {
    this.#quiet = false;
    this.#giveFocus(id);
    this.#scrollTo(id);
    this.#refresh();
  }

  #giveFocus(id) {
    const quiet = this.#quiet;
    this.#makeCurrent(id);
    this.#drawing.words.get(id)?.focus({ preventScroll: true });
    this.#quiet = quiet;
  }

  /** Choose the word whose head comes next, or none. */
  choose(id) {
    this.#chosen = id;
    this.#refresh();
    this.actions.look(id ?? this.#lookedAt(), id !== null);
  }

  #makeCurrent(id) {
    this.#drawing.words.get(this.#current)?.setAttribute("tabindex", "-1");
    this.#current = id;
    this.#drawing.words.get(id)?.setAttribute("tabindex", "0");
  }

  #scrollTo(id) {
    if (this.isDown) {
      const { top, bottom } = this.#drawing.words.get(id).getBoundingClientRect();
      const floor = this.actions.floor();
      if (top < 8) window.scrollBy(0, top - 40);
      else if (bottom > floor - 8) window.scrollBy(0, bottom - floor + 40);
      return;
    }
    const middle = this.#placeOf(id);
    const { clientWidth, scrollLeft } = this.node;
    if (middle < scrollLeft + 60) this.node.scrollLeft = middle - 60;
    else if (middle > scrollLeft + clientWidth - 60) this.node.scrollLeft = middle + 60 - clientWidth;
  }

  #lookedAt() {
    if (this.#chosen !== null) return this.#chosen;
    if (this.#hovered !== null) return this.#hovered;
    if (this.#quiet || this.#current === 0) return null;
    return this.node.contains(document.activeElement) ? this.#current : null;
  }

  /** Show what is chosen, what is looked at, and its other heads. */
  #refresh() {
    if (!this.#drawing) return;
    const id = this.#lookedAt();
    const { picture, words, arcs, others } = this.#drawing;
    picture.classList.toggle("choosing", this.#chosen !== null);
    picture.classList.toggle("looking", id !== null);
    const token = id === null ? null : this.#tokens[id - 1];
    const possible = new Map((token?.heads ?? []).map((other) => [other.head, other.prob]));
    for (const [number, word] of words) {
      word.classList.toggle("chosen", number === this.#chosen);
      word.classList.toggle("looked-at", number === id);
      word.classList.toggle("possible", number !== id && possible.get(number) >= 0.005);
      word.setAttribute("aria-selected", String(number === this.#chosen));
    }
    for (const [number, arc] of arcs) arc.classList.toggle("looked-at", number === id);
    if (token) this.#drawing.drawOthers(token);
    else others.replaceChildren();
  }

  #hover(event) {
    if (event.pointerType === "touch" || !this.#hasMoved(event)) return;
    const id = idOf(event.target.closest(".word")) ?? dependentOf(event.target.closest(".label"));
    if (id === this.#hovered || id === 0) return;
    this.#hovered = id;
    this.#quiet = true; // what is pointed at counts, not what was clicked before
    this.#refresh();
    if (id !== null && this.#chosen === null) this.actions.look(id, false);
  }

  /** A new tree under a pointer that rests is not pointed at: the person wants to see all of it. */
  #hasMoved({ clientX, clientY }) {
    this.#pointer = [clientX, clientY];
    if (this.#resting === null) return true;
    const [x, y] = this.#resting;
    if (Math.abs(clientX - x) + Math.abs(clientY - y) < 4) return false;
    this.#resting = null;
    return true;
  }

  #leave() {
    this.#pointer = this.#resting = null;
    this.#hovered = null;
    this.#refresh();
  }

  #focused(event) {
    const id = idOf(event.target.closest(".word"));
    if (id === null) return;
    this.#makeCurrent(id);
    if (event.target.matches(":focus-visible")) this.#quiet = false;
    this.#refresh();
    if (id > 0 && this.#chosen === null) this.actions.look(id, false);
  }

  #click(event) {
    const dependent = dependentOf(event.target.closest(".label"));
    if (dependent !== null) {
      this.#makeCurrent(dependent);
      this.actions.relabel(dependent);
      return;
    }
    const id = idOf(event.target.closest(".word"));
    if (id !== null) this.#take(id);
    else if (this.#chosen !== null) this.choose(null);
  }

  /** A word was clicked: the first one is the dependent, the second its head. */
  #take(id) {
    const dependent = this.#chosen;
    if (dependent === null) {
      this.focus(id);
      if (id > 0 && this.actions.mayChoose()) this.choose(id);
      return;
    }
    this.choose(null);
    this.focus(dependent);
    if (id !== dependent) this.actions.pick(dependent, id);
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = this.#current;
    const { places } = this.#drawing;
    const step = places.length > 1 && places[0] > places[1];
    const moves = {
      ...(this.isDown ? { ArrowDown: id + 1, ArrowUp: id - 1 } : {}),
      ArrowRight: step ? id - 1 : id + 1,
      ArrowLeft: step ? id + 1 : id - 1,
      Home: 1,
      End: this.#tokens.length,
    };
    if (event.key in moves) {
      this.focus(Math.min(Math.max(moves[event.key], 0), this.#tokens.length));
    } else if (event.key === "Enter" || event.key === " ") {
      this.#take(id);
    } else if (event.key === "Escape" && this.#chosen !== null) {
      this.choose(null);
    } else if (id > 0 && this.#letter(event.key, this.#chosen ?? id)) {
      // Done.
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #letter(name, id) {
    const key = name.toLowerCase();
    if (key === "f") this.actions.confirm(id);
    else if (key === "r") this.actions.pick(id, 0);
    else if (key === "l") this.actions.relabel(id);
    else if (key === "delete" || key === "backspace") this.actions.free(id);
    else if (/^[1-9]$/.test(key)) this.actions.pickOther(id, Number(key));
    else return false;
    return true;
  }
}

function idOf(word) {
  return word ? Number(word.dataset.id) : null;
}

function dependentOf(label) {
  return label ? Number(label.dataset.dependent) : null;
}
