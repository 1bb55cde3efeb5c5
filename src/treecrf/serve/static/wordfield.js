// The words of a sentence in a field: a space splits a word, and words that lose the space between them are joined.

import { button, element } from "./dom.js";
import { readWords, shownWords } from "./words.js";

const HINT = "Put a space into a word to split it; delete the space between two words to join them.";

export class WordField {
  #forms = [];
  #before = null; // what had the focus

  /** `cut(words)` parses the sentence again with other words, or throws an error that says what is wrong. */
  constructor({ cut, name }) {
    this.cut = cut;
    this.input = element("textarea", { rows: 2, dir: "auto", spellcheck: "false", "aria-label": `Words of ${name}` });
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    const submit = element("button", { type: "submit", class: "primary", title: "Parse again (Enter)" }, "Parse again");
    this.node = element(
      "form",
      { class: "words-field", "aria-label": `Edit the words of ${name}`, hidden: true },
      element("p", { class: "hint" }, HINT),
      this.input,
      this.problem,
      element("div", { class: "group" }, submit, button("Cancel", { keys: "Esc", press: () => this.close() })),
    );
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#take();
    });
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === this.input) this.#take();
      else if (event.key === "Escape") this.close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Let a person edit these words. */
  open(forms) {
    this.#forms = forms;
    this.#before = document.activeElement;
    this.input.value = shownWords(forms);
    this.problem.hidden = true;
    this.node.hidden = false;
    this.input.focus();
  }

  close() {
    this.node.hidden = true;
    if (this.#before?.isConnected) this.#before.focus({ preventScroll: true });
  }

  async #take() {
    const words = readWords(this.input.value);
    if (words.join("\n") === this.#forms.join("\n")) return this.close();
    this.node.setAttribute("aria-busy", "true");
    try {
      await this.cut(words);
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    } finally {
      this.node.removeAttribute("aria-busy");
    }
  }
}
