// The help: a dialog that a button or the question mark opens.

import { byId } from "./dom.js";

export function setUpHelp() {
  const dialog = byId("help");
  byId("open-help").addEventListener("click", () => dialog.showModal());
  byId("close-help").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey) return;
    if (event.key === "?" && !document.querySelector("dialog[open]")) {
      dialog.showModal();
      event.preventDefault();
    }
  });
}
