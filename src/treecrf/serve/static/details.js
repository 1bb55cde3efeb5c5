// Under the tree: the heads that a word might have, each a button that fixes it.

import { button, element, replaceChildren } from "./dom.js";
import { certainty, percent } from "./scale.js";

const HINT = "Point at a word, or go to it with the arrow keys, to see where else its head might be.";

export class Details {
  #id = null;
  #shown = [];
  isSurest = true; // whether the tree that is shown is the one whose heads are most probable together

  constructor({ pick, free, relabel }) {
    this.actions = { pick, free, relabel };
    this.node = element("div", { class: "details" }, element("p", { class: "hint" }, HINT));
  }

  get id() {
    return this.#id;
  }

  /** The nth head in the list, counted from 1. */
  head(number) {
    return this.#shown[number - 1]?.head;
  }

  show(tokens, id, isChosen) {
    const token = tokens[id - 1];
    this.#id = id;
    this.#shown = token.heads.filter((other) => other.prob >= 0.001 || other.head === token.head);
    if (!this.#shown.some((other) => other.head === token.head)) {
      this.#shown.unshift({ head: token.head, prob: token.prob });
    }
    const question = isChosen
      ? [element("b", {}, "Click the head of "), quoted(token.form), ", or ROOT:"]
      : ["Heads of ", quoted(token.form), ":"];
    const focused = [...this.node.querySelectorAll("button")].indexOf(document.activeElement);
    replaceChildren(
      this.node,
      element("p", { class: isChosen ? "question asking" : "question" }, ...question),
      element("div", { class: "chips" }, ...this.#shown.map((other) => this.#chip(tokens, token, other))),
      this.#explanation(tokens, token),
      element(
        "div",
        { class: "chips" },
        button(`relation: ${token.deprel}`, {
          class: "chip plain",
          title: `Change the relation of ${token.form}, now ${token.deprel}`,
          keys: "L",
          press: () => this.actions.relabel(id),
        }),
        token.fixed
          ? button("free", {
              class: "chip plain",
              title: `Free the head of ${token.form}`,
              keys: "Delete",
              press: () => this.actions.free(id),
            })
          : null,
      ),
    );
    const buttons = this.node.querySelectorAll("button");
    if (focused >= 0) buttons[Math.min(focused, buttons.length - 1)].focus({ preventScroll: true });
  }

  /** Why a word does not have its most probable head; null where it has. */
  #explanation(tokens, token) {
    const best = token.heads.reduce((one, other) => (other.prob > one.prob ? other : one), token);
    if (!this.isSurest || token.fixed || percent(best.prob) === percent(token.prob)) return null;
    return element(
      "p",
      { class: "hint why" },
      `For this word alone, ${formOf(tokens, best.head)} is more probable (${percent(best.prob)}). The heads of `,
      "a tree are chosen together, so that it has one root and no circles: together, those shown are better.",
    );
  }

  #chip(tokens, token, other) {
    const form = formOf(tokens, other.head);
    const isHead = other.head === token.head;
    const bar = element("span", { class: `bar ${certainty(other.prob)}`, "aria-hidden": "true" });
    bar.style.width = `${Math.max(2, Math.round(other.prob * 100))}%`;
    const says = `Fix ${form} as the head of ${token.form}, ${percent(other.prob)}`;
    return element(
      "button",
      {
        type: "button",
        class: `chip${isHead ? " is-head" : ""}`,
        "aria-label": isHead ? `${says}, its head now` : says,
        title: says,
        click: () => this.actions.pick(token.id, other.head),
      },
      element("span", { class: "chip-form" }, form),
      other.head > 0 ? element("span", { class: "number" }, String(other.head)) : null,
      element("span", { class: "share" }, percent(other.prob)),
      bar,
    );
  }
}

function formOf(tokens, head) {
  return head === 0 ? "ROOT" : tokens[head - 1].form;
}

function quoted(form) {
  return element("b", { class: "quoted" }, form);
}
