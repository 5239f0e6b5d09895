// Light or dark: as the system has it, until the reader says otherwise.

function setUpTheme() {
  const button = document.querySelector(".theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  // Where nothing can be kept, the choice is for this visit.
  const kept = (value) => {
    try {
      return value === undefined ? localStorage.getItem("isonomy-theme") : localStorage.setItem("isonomy-theme", value);
    } catch {
      return null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const update = () => button.setAttribute("aria-pressed", String(isDark()));
  const before = kept();
  if (before === "light" || before === "dark") root.dataset.theme = before;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept(root.dataset.theme);
    update();
  });
  system.addEventListener("change", update);
  update();
}
