// Light, dark, or as the system has it. Not a module: it runs before the page is drawn.

(() => {
  const THEMES = ["auto", "light", "dark"];
  const NAMES = { auto: "as the system", light: "light", dark: "dark" };
  const root = document.documentElement;

  function stored() {
    try {
      const theme = localStorage.getItem("treecrf-theme");
      return THEMES.includes(theme) ? theme : "auto";
    } catch {
      return "auto"; // where nothing can be stored
    }
  }

  function show(theme) {
    root.dataset.theme = theme;
    for (const choice of document.querySelectorAll("[data-choose-theme]")) {
      choice.setAttribute("aria-label", `Colours: ${NAMES[theme]}. Change`);
      choice.title = `Colours: ${NAMES[theme]}`;
      choice.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
    }
  }

  show(stored());
  document.addEventListener("DOMContentLoaded", () => {
    show(root.dataset.theme);
    for (const choice of document.querySelectorAll("[data-choose-theme]")) {
      choice.addEventListener("click", () => {
        const theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
        try {
          localStorage.setItem("treecrf-theme", theme);
        } catch {
          // It holds until the page is left.
        }
        show(theme);
      });
    }
  });
})();
