// Who annotates: the name is in the address of the page, so that each tab is somebody's.

import { element } from "../dom.js";

const NAME = "annotator";

/** The name of whoever works on this page; empty where one works alone, or has not said. */
export const annotator = new URLSearchParams(location.search).get(NAME) ?? "";

/** The address of something of the service, for this annotator. */
export function addressOf(path, more = {}) {
  const query = new URLSearchParams({ ...(annotator ? { [NAME]: annotator } : {}), ...more });
  return query.size ? `${path}?${query}` : path;
}

/** The page of an annotator, at a sentence where one is given. */
export function pageOf(name, place = null) {
  const query = new URLSearchParams({ ...(name ? { [NAME]: name } : {}), ...(place ? { place } : {}) });
  return query.size ? `./?${query}` : "./";
}

/** A question who one is, with how far everybody is. */
export function whoAreYou(annotators) {
  const choices = annotators.map(({ name, done, total }) =>
    element(
      "li",
      {},
      element(
        "a",
        { class: "person", href: pageOf(name) },
        element("b", {}, name),
        element("span", { class: "hint" }, `${done} of ${total} sentences done`),
        element("progress", { max: Math.max(total, 1), value: done, "aria-hidden": "true" }),
      ),
    ),
  );
  return element(
    "section",
    { class: "card who", "aria-labelledby": "who-title" },
    element("h2", { id: "who-title", tabindex: "-1" }, "Who are you?"),
    element("p", { class: "hint" }, "Everybody has decisions and a file of their own."),
    element("ul", {}, ...choices),
  );
}

/** Show links at the top: to what all have said, and who one is. */
export function showLinks(nav, { isTeam }) {
  const links = [element("a", { class: "quiet", href: addressOf("agreement") }, isTeam ? "Agreement" : "Remarks")];
  if (annotator) {
    const title = `You are ${annotator}: choose another name`;
    links.push(element("a", { class: "quiet me", href: "./", title, "aria-label": title }, annotator));
  }
  nav.prepend(...links);
}
