// Clicks that are not lost: what is pressed stays in its place until it is let go.

const UNTIL_CLICKED = 50; // milliseconds: a finger's click comes a moment after it is lifted

/**
 * A function that draws something anew inside a node: at once, or, while a pointer is held down there, when the
 * click is done. A browser gives no click for an element that went between its two halves. Of the drawings
 * that wait, only the last is made.
 */
export function drawerOf(node) {
  let held = 0; // pointers that are down, and presses whose click may still come
  let waiting = null;
  const release = () => {
    held -= 1;
    if (held > 0 || waiting === null) return;
    const draw = waiting;
    waiting = null;
    draw();
  };
  node.addEventListener(
    "pointerdown",
    ({ pointerId }) => {
      const watch = new AbortController();
      const end = (event) => {
        if (event.pointerId !== pointerId) return;
        watch.abort();
        setTimeout(release, UNTIL_CLICKED);
      };
      held += 1;
      for (const name of ["pointerup", "pointercancel"]) {
        window.addEventListener(name, end, { capture: true, signal: watch.signal });
      }
    },
    { capture: true },
  );
  return (draw) => {
    if (held > 0) waiting = draw;
    else draw();
  };
}
