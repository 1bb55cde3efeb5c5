// Elements, made without ever parsing text as markup: a token can hold anything.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes (or listeners, where the value is a function) and children. */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A button; `keys` is what a keyboard does the same with, for whoever asks. */
export function button(text, { title, keys, press, ...attributes }) {
  const hint = [title, keys && `(${keys})`].filter(Boolean).join(" ");
  return element(
    "button",
    { type: "button", title: hint || null, "aria-label": title ?? null, click: press, ...attributes },
    text,
  );
}

/** Put other children into a node. */
export function replaceChildren(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** The element of the page that has this id. */
export function byId(id) {
  return document.getElementById(id);
}
