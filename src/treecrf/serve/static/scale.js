// How sure is sure: the steps of the colour scale, the same as in the pictures of `treecrf parse`.

import { element, shape } from "./dom.js";

export const STEPS = [
  { least: 0.95, name: "sure", says: "≥ 95%" },
  { least: 0.8, name: "likely", says: "≥ 80%" },
  { least: 0.6, name: "unsure", says: "≥ 60%" },
  { least: 0.4, name: "doubtful", says: "≥ 40%" },
  { least: 0, name: "unlikely", says: "< 40%" },
];

export const SURE = STEPS[0].least;

/** The class of a probability; each has a colour, a width and a line of its own. */
export function certainty(prob) {
  return STEPS.find((step) => prob >= step.least)?.name ?? "unknown";
}

/** A probability as people say it: 100% is only what is (nearly) certain. */
export function percent(prob) {
  if (prob >= 0.9995) return "100%";
  if (prob >= 0.995) return `${(Math.floor(prob * 1000) / 10).toFixed(1)}%`;
  if (prob > 0 && prob < 0.001) return "<0.1%";
  if (prob < 0.01) return `${(prob * 100).toFixed(1)}%`;
  return `${Math.round(prob * 100)}%`;
}

/** What the lines mean. */
export function legend() {
  const items = STEPS.map((step) => {
    const line = shape("path", { class: "line", d: "M 1 6 H 35" });
    const sample = shape("svg", { class: step.name, width: 36, height: 12, "aria-hidden": "true" });
    sample.append(line);
    return element("li", {}, sample, step.says);
  });
  const fixed = element("li", {}, element("span", { class: "sample-fixed" }, "rel"), "fixed by you");
  return element(
    "ul",
    { class: "legend", "aria-label": "How probable an arc is, by its line, and a relation, by its colour" },
    element("li", { "aria-hidden": "true" }, "How probable an arc or a relation is:"),
    ...items,
    fixed,
  );
}
