// Beside the tree: the heads and relations that a word might have, each a button that fixes it, and what it is.

import { analysisOf } from "./analysis.js";
import { button, element, replaceChildren } from "./dom.js";
import { explain, explained } from "./glossary.js";
import { certainty, percent } from "./scale.js";

const HINT = "Point at a word, or go to it with the arrow keys, to see its other possible heads and relations.";
const LIKELY = 0.01; // relations of a smaller probability are in the list of all

export class Details {
  #id = null;
  #shown = [];
  isSurest = true; // whether the tree that is shown is the one whose heads are most probable together

  constructor({ pick, free, relabel, label, besides = () => null }) {
    this.actions = { pick, free, relabel, label, besides };
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
        element("p", { class: "relation-name" }, "Relation:"),
        ...this.#relations(token),
        button("other …", {
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
        explain(token.deprel) ? element("p", { class: "gloss" }, explained(token.deprel)) : null,
      ),
      this.actions.besides(token),
      analysisOf(token),
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

  /** The relations that the word might have under its head, the one that it has among them. */
  #relations(token) {
    const shown = token.deprels.filter((other) => other.prob >= LIKELY || other.deprel === token.deprel);
    if (!shown.some((other) => other.deprel === token.deprel)) {
      shown.unshift({ deprel: token.deprel, prob: token.deprel_prob });
    }
    return shown.map(({ deprel, prob }) => {
      const isIts = deprel === token.deprel;
      const says = `Fix ${deprel} as the relation of ${token.form}, ${percent(prob)}`;
      return element(
        "button",
        {
          type: "button",
          class: `chip plain relation${isIts ? " is-head" : ""}`,
          "aria-label": isIts ? `${says}, its relation now` : says,
          title: [says, explain(deprel)].filter(Boolean).join("\n"),
          click: () => this.actions.label(token.id, deprel),
        },
        element("span", { class: "chip-form" }, deprel),
        element("span", { class: "share" }, percent(prob)),
        barOf(prob),
      );
    });
  }

  #chip(tokens, token, other) {
    const form = formOf(tokens, other.head);
    const isHead = other.head === token.head;
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
      barOf(other.prob),
    );
  }
}

function barOf(prob) {
  const bar = element("span", { class: `bar ${certainty(prob)}`, "aria-hidden": "true" });
  bar.style.width = `${Math.max(2, Math.round(prob * 100))}%`;
  return bar;
}

function formOf(tokens, head) {
  return head === 0 ? "ROOT" : tokens[head - 1].form;
}

function quoted(form) {
  return element("b", { class: "quoted" }, form);
}
