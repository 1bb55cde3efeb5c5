// A comment on a sentence, and a flag for whoever should look at it again.

import { button, element } from "../dom.js";

/** A comment as the service keeps it: in one line. */
function inOneLine(text) {
  return text.trim().replace(/\s+/g, " ");
}

export class Remark {
  #saved = "";
  #latest;
  #change;

  /**
   * `latest()` is what is decided, with `comment` and `flag`; `change(remark, says)` decides otherwise;
   * `back()` puts the focus where one was before.
   */
  constructor({ latest, change, back }) {
    this.#latest = latest;
    this.#change = change;
    this.flag = button("⚑ Flag", {
      class: "flag",
      "aria-label": "Flag",
      "aria-pressed": "false",
      title: "Somebody should look at this sentence again (G)",
      press: () => this.toggle(),
    });
    this.input = element("input", {
      type: "text",
      maxlength: 2000,
      autocomplete: "off",
      placeholder: "A comment on this sentence",
      "aria-label": "Comment",
      title: "Enter saves it, Esc leaves it as it was (C)",
      change: () => this.commit(),
      keydown: (event) => this.#press(event, back),
    });
    this.node = element("div", { class: "remark" }, this.flag, this.input);
  }

  /** Show what is decided; what is being typed stays. */
  show({ comment, flag }) {
    if (inOneLine(this.input.value) === this.#saved) this.input.value = comment;
    this.#saved = comment;
    this.flag.setAttribute("aria-pressed", String(flag));
  }

  /** Whether something is typed that is not decided yet. */
  get isDirty() {
    return inOneLine(this.input.value) !== this.#latest().comment;
  }

  /** Decide what is typed. */
  commit() {
    if (!this.isDirty || this.input.readOnly) return;
    const comment = inOneLine(this.input.value);
    this.#change({ comment }, comment ? "The comment is saved." : "The comment is removed.");
  }

  toggle() {
    if (this.input.readOnly) return;
    const flag = !this.#latest().flag;
    this.#change({ flag }, flag ? "The sentence is flagged." : "The sentence is not flagged any more.");
  }

  /** As long as the sentence is being left, nothing can be typed that would be lost. */
  set isLocked(isLocked) {
    this.input.readOnly = isLocked;
  }

  #press(event, back) {
    if (event.key === "Escape") this.input.value = this.#latest().comment;
    else if (event.key === "Enter") this.commit();
    else return;
    event.preventDefault();
    event.stopPropagation();
    back();
  }
}
