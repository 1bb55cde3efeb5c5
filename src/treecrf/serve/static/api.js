// What the page asks the service for, and what it says when that goes wrong.

/** What the person is told; `status` is that of the answer, 0 where there was none. */
export class ServiceError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ServiceError("The service does not answer. Is it still running?", 0);
  }
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // What is wrong is told by the status.
  }
  if (answer.ok && body !== null) return body;
  throw new ServiceError(problem(answer, body), answer.status);
}

function problem(answer, body) {
  const detail = body?.detail;
  if (typeof detail === "string") return detail;
  if (answer.status === 413) return "That is more text than the service takes at once.";
  if (answer.status === 503) return "The service is busy. Try again in a moment.";
  return `The service answered ${answer.status} ${answer.statusText}`.trim();
}

/** POST a JSON value; the answer's JSON value. With `keepalive`, closing the page does not stop it. */
export function post(path, value, { keepalive = false } = {}) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(value), keepalive });
}

/** GET a JSON value. */
export function get(path) {
  return ask(path);
}
