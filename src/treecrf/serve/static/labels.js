// A list of relations or tags to choose from, which gets shorter as one types.

import { element, replaceChildren } from "./dom.js";
import { explain } from "./glossary.js";
import { percent } from "./scale.js";

/**
 * Ask for a relation, or what else `what` says: the one that was chosen, null to leave it to the parser,
 * undefined for none. `likely` are the most probable ones with their probabilities, the most probable first;
 * `none` is what to say where nothing has what was typed, and `freeing` the name of null.
 */
export function chooseLabel({ labels, form, current, fixed, likely, what = "Relation", ...more }) {
  const { none = "No such relation in this model", freeing = "let the parser choose" } = more;
  const chances = new Map(likely.map(({ deprel, prob }) => [deprel, percent(prob)]));
  const ordered = [...new Set([...chances.keys(), ...labels])];
  return new Promise((resolve) => {
    const before = document.activeElement;
    let active = 0;
    let offered = [];
    let answer;
    const list = element("ul", { role: "listbox", id: "relations", "aria-label": `${what}s` });
    const input = element("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "Type to filter",
      "aria-label": `${what} of ${form}`,
      "aria-expanded": "true",
      "aria-controls": "relations",
      "aria-autocomplete": "list",
    });
    const dialog = element(
      "dialog",
      { class: "labels", "aria-label": `${what} of ${form}` },
      element("p", { class: "dialog-title" }, `${what} of `, element("b", {}, form)),
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
      const starts = ordered.filter((label) => label.toLowerCase().startsWith(typed));
      const holds = ordered.filter((label) => label.toLowerCase().includes(typed));
      const means = ordered.filter((label) => explain(label)?.toLowerCase().includes(typed));
      offered = [...new Set([...starts, ...holds, ...means])].map((label) => ({ label, value: label }));
      if (fixed && !typed) offered.push({ label: freeing, value: null });
      const items = offered.map(({ label, value }, index) =>
        element(
          "li",
          {
            role: "option",
            id: `relation-${index}`,
            class: value === null ? "freeing" : value === current ? "current" : null,
            click: () => close(value),
          },
          element("span", { class: "name" }, label),
          chances.has(value) ? element("span", { class: "share" }, ` ${chances.get(value)}`) : null,
          value !== null && explain(value) ? element("span", { class: "gloss" }, explain(value)) : null,
        ),
      );
      replaceChildren(list, ...(items.length ? items : [element("li", { class: "hint" }, none)]));
      mark(typed ? 0 : Math.max(0, ordered.indexOf(current)));
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
