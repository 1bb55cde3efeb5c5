// The dialog that splits a token, makes it of several words, or joins it to the one beside it.

import { button, element } from "../dom.js";
import { firstWordOf, join, split, tokenOf } from "./boundaries.js";

/**
 * Ask for other tokens: all `tokens` as they are then and the first `word` that changed, or undefined. `word`
 * is the number of a word of the token that it is about; `original` are the tokens of the corpus, null if those
 * are what there is.
 */
export function chooseTokens({ tokens, word, text, original }) {
  const index = tokenOf(tokens, word);
  const { form, words } = tokens[index];
  return new Promise((resolve) => {
    const before = document.activeElement;
    let answer;
    const input = element("input", {
      type: "text",
      id: "pieces",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      value: words.length ? words.join(" ") : form,
      "aria-describedby": "pieces-problem",
    });
    const areWords = element("input", { type: "checkbox" });
    areWords.checked = words.length > 0;
    const problem = element("p", { class: "problem", id: "pieces-problem", role: "alert", hidden: true });
    const close = (changed, at) => {
      answer = { tokens: changed, word: firstWordOf(changed, at) };
      dialog.close();
      end(); // not at the event: a key that comes before it would be about the words of before
    };
    const end = () => {
      dialog.remove();
      if (before instanceof Element && before.isConnected) before.focus({ preventScroll: true });
      resolve(answer);
    };
    const cut = () => {
      try {
        const pieces = input.value.trim().split(/\s+/).filter(Boolean);
        close(split(tokens, index, { pieces, areWords: areWords.checked }), index);
      } catch (error) {
        problem.textContent = error.message;
        problem.hidden = false;
        input.focus();
      }
    };
    const joining = (at, other) =>
      button(`Join with «${tokens[other].form}»`, { press: () => close(join(tokens, at, text), at) });
    const others = [
      index > 0 ? joining(index - 1, index - 1) : null,
      index + 1 < tokens.length ? joining(index, index + 1) : null,
      original ? button("All as in the corpus", { press: () => close(original, 0) }) : null,
    ];
    const fields = element(
      "form",
      { method: "dialog" },
      element("label", { for: "pieces" }, "Put a space where it is to be split:"),
      element("div", { class: "pieces" }, input, element("button", { type: "submit", class: "primary" }, "Split")),
      element("label", { class: "check" }, areWords, "words of one token, as ", element("i", {}, "do"), " and ", element("i", {}, "n’t"), " are of ", element("i", {}, "don’t")),
      problem,
    );
    const dialog = element(
      "dialog",
      { class: "tokens", "aria-label": `Tokens at ${form}` },
      element("p", { class: "dialog-title" }, "Split or join ", element("b", {}, form)),
      fields,
      element("div", { class: "joins" }, ...others),
      element("p", { class: "dialog-foot" }, button("Cancel", { press: () => dialog.close() })),
    );
    fields.addEventListener("submit", (event) => {
      event.preventDefault();
      cut();
    });
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close(); // beside it
    });
    dialog.addEventListener("close", () => {
      if (dialog.isConnected) end();
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
