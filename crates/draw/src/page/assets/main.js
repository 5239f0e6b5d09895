// Sets everything up, and listens to the keyboard.

document.documentElement.classList.add("js");
setUpTheme();
document.querySelectorAll(".unfold").forEach((button) => setEvents(button, false));
const exhibits = [...document.querySelectorAll(".exhibit")].map((root) => new Exhibit(root));

// The exhibit that keys are meant for: the one with the focus, or the only one.
function focused() {
  if (exhibits.length === 1) return exhibits[0];
  return exhibits.find((exhibit) => exhibit.root.contains(document.activeElement));
}

// The one that fills most of the window.
function mostVisible() {
  const seen = ({ root }) => {
    const { top, bottom } = root.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0);
  };
  return exhibits.filter((exhibit) => seen(exhibit) > 0).sort((a, b) => seen(b) - seen(a))[0];
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
  // A drawing that scrolls has the arrows for itself while it has the focus.
  if (event.target.matches(".scroll,.told,pre,.table")) return;
  const action = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", Escape: "clear" }[event.key];
  if (!action) return;
  // Home and End have another meaning on a page of many exhibits.
  const far = action === "first" || action === "last";
  const exhibit = focused() ?? (far ? undefined : mostVisible());
  if (!exhibit) return;
  event.preventDefault();
  exhibit.story.go(action);
});

// An address may name a step.
const step = document.getElementById(location.hash.slice(1))?.querySelector(":scope > .step");
if (step) exhibits.find((exhibit) => exhibit.root.contains(step))?.story.at(Number(step.dataset.step), step);
