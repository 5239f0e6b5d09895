// What is folded: events that nothing rests on, and the stories of cases. Without this script everything is open.

// Folds or unfolds the list of a case.
function setFold(list, open) {
  list.classList.toggle("closed", !open);
  const button = document.querySelector(`[aria-controls="${list.id}"]`);
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "fold" : "unfold this case";
}

// Folds or unfolds the other events of a transaction.
function setEvents(button, open) {
  button.closest(".events").querySelectorAll(".other").forEach((event) => event.classList.toggle("folded", !open));
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "fold" : `… ${button.dataset.count} more`;
}

function toggleFold(button) {
  const open = button.getAttribute("aria-expanded") !== "true";
  if (button.matches(".unfold")) setEvents(button, open);
  else setFold(document.getElementById(button.getAttribute("aria-controls")), open);
}

// A box of a drawing says that there is more: it is shown where there is room.
function openCard(root, txn) {
  const card = root.querySelector(`.card[data-txn="${txn}"]`);
  const button = card?.querySelector(".unfold");
  if (button) setEvents(button, true);
  card?.scrollIntoView({ block: "center", behavior: smooth });
  card?.querySelector(".name").focus({ preventScroll: true });
}
