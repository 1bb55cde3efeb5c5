// The list of relations to choose from, which gets shorter as one types.

import { element, replaceChildren } from "./dom.js";
import { percent } from "./scale.js";

/**
 * Ask for a relation: the one that was chosen, null to leave it to the parser, undefined for none. `likely`
 * are the most probable ones with their probabilities.
 */
export function chooseLabel({ labels, form, current, fixed, likely }) {
  const chances = new Map(likely.map(({ deprel, prob }) => [deprel, percent(prob)]));
  return new Promise((resolve) => {
    const before = document.activeElement;
    let active = 0;
    let offered = [];
    let answer;
    const list = element("ul", { role: "listbox", id: "relations", "aria-label": "Relations" });
    const input = element("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "Type to filter",
      "aria-label": `Relation of ${form}`,
      "aria-expanded": "true",
      "aria-controls": "relations",
      "aria-autocomplete": "list",
    });
    const dialog = element(
      "dialog",
      { class: "labels", "aria-label": `Relation of ${form}` },
      element("p", { class: "dialog-title" }, "Relation of ", element("b", {}, form)),
      input,
      list,
    );

    const close = (value) => {
      answer = value;
      dialog.close();
    };
    const mark = (index) => {
      active = Math.min(Math.max(index, 0), offered.length - 1);
      [...list.children].forEach((item, place) => {
        item.setAttribute("aria-selected", String(place === active));
        if (place === active) item.scrollIntoView({ block: "nearest" });
      });
      if (offered.length) input.setAttribute("aria-activedescendant", `relation-${active}`);
      else input.removeAttribute("aria-activedescendant");
    };
    const fill = () => {
      const typed = input.value.trim().toLowerCase();
      const starts = labels.filter((label) => label.toLowerCase().startsWith(typed));
      const holds = labels.filter((label) => label.toLowerCase().includes(typed));
      offered = [...new Set([...starts, ...holds])].map((label) => ({ label, value: label }));
      if (fixed && !typed) offered.push({ label: "let the parser choose", value: null });
      const items = offered.map(({ label, value }, index) =>
        element(
          "li",
          {
            role: "option",
            id: `relation-${index}`,
            class: value === null ? "freeing" : value === current ? "current" : null,
            click: () => close(value),
          },
          label,
          chances.has(value) ? element("span", { class: "share" }, ` ${chances.get(value)}`) : null,
        ),
      );
      const none = element("li", { class: "hint" }, "No such relation in this model");
      replaceChildren(list, ...(items.length ? items : [none]));
      mark(typed ? 0 : Math.max(0, labels.indexOf(current)));
    };

    input.addEventListener("input", fill);
    input.addEventListener("keydown", (event) => {
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
      if (event.key in moves) mark(active + moves[event.key]);
      else if (event.key === "Enter" && offered.length) close(offered[active].value);
      else return;
      event.preventDefault();
    });
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close(); // beside it
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof Element && before.isConnected) before.focus({ preventScroll: true });
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    fill();
    input.focus();
  });
}
