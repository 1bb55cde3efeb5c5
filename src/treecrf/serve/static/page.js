// What both pages have: the buttons at the top, the legend, and the help with the keys of a tree.

import { button, byId, element } from "./dom.js";
import { loadGlossary } from "./glossary.js";
import { legend } from "./scale.js";

const KEYS = [
  ["`←` `→` `Home` `End`", "go to another word; left of the first is ROOT"],
  ["`↑` `↓`", "the same in a tree that is drawn from top to bottom"],
  ["`Enter`", "choose the word; on another word: take that as its head"],
  ["`1` … `9`", "take the first, second … of the heads listed below the tree"],
  ["`R`", "make it the root"],
  ["`F`", "fix its head as it is"],
  ["`Delete`", "free it again"],
  ["`L`", "change its relation: type to filter, arrows and Enter to choose"],
  ["`Esc`", "choose nothing"],
  ["`Ctrl`+`Z`, `Ctrl`+`Y`", "undo, redo (also `U`)"],
  ["`[` `]`", "step through the best trees"],
  ["`V`", "draw the tree from top to bottom, or from left to right"],
  ["`T`", "the tree as a table, in which everything can be changed too"],
];

/**
 * `own` has the keys of this page, and those that mean something else on it, as `KEYS` has them. Returns a promise
 * of the meanings of relations, which pictures have.
 */
export function setUpPage(own) {
  const meanings = loadGlossary();
  const dialog = byId("help");
  const open = () => dialog.showModal();
  document.querySelector("nav").append(
    button("?", { title: "Help", keys: "?", class: "round", press: open }),
    button("◐", { class: "round", "aria-label": "Colours", "data-choose-theme": true }),
  );
  byId("legend").append(legend());
  const keys = new Map([...KEYS, ...own]);
  dialog.append(
    element(
      "table",
      {},
      element("caption", {}, "With the keyboard, on a word of a tree"),
      element("tbody", {}, ...[...keys].map(row)),
    ),
    element(
      "p",
      { class: "dialog-foot" },
      button("Close", { class: "primary", press: () => dialog.close() }),
    ),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey) return;
    if (event.key === "?" && !document.querySelector("dialog[open]")) {
      open();
      event.preventDefault();
    }
  });
  return meanings;
}

function row([keys, meaning]) {
  return element("tr", {}, element("th", { scope: "row" }, ...marked(keys)), element("td", {}, ...marked(meaning)));
}

/** Text with the names of keys, which stand between backticks. */
function marked(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("kbd", {}, part) : part));
}
