// Going through the story, step by step, and showing the scene that each step is about.

class Story {
  constructor(exhibit) {
    this.exhibit = exhibit;
    this.steps = exhibit.root.querySelectorAll(".step");
    this.scenes = exhibit.root.querySelectorAll(".scene");
    this.count = exhibit.root.querySelector(".count");
    // The step we are at; -1 is before the first.
    this.place = -1;
    this.show(0);
    this.update();
  }

  go(action) {
    const last = this.steps.length - 1;
    if (action === "clear") {
      this.place = -1;
      this.show(0);
      this.update();
      this.exhibit.clear();
    } else if (last >= 0) {
      const to = { first: 0, back: this.place - 1, next: this.place + 1, last }[action];
      this.at(Math.max(0, Math.min(last, to)), null);
    }
  }

  // Goes to a step.
  at(place, from) {
    this.place = place;
    this.update();
    const step = this.steps[place];
    for (let list = step.closest("ol"); list?.id; list = list.parentElement.closest("ol")) setFold(list, true);
    this.exhibit.choose("step", String(place), from);
  }

  // Something else than a step is looked at. Going on begins where we were.
  leave() {
    this.steps.forEach((step) => step.removeAttribute("aria-current"));
  }

  update() {
    this.steps.forEach((step, index) => {
      if (index === this.place) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    this.count.textContent = `${this.place + 1} / ${this.steps.length}`;
    for (const [action, end] of [["first", 0], ["back", 0], ["next", this.steps.length - 1], ["last", this.steps.length - 1]]) {
      const at = this.exhibit.root.querySelector(`[data-do="${action}"]`);
      at.disabled = action === "next" || action === "last" ? this.place >= end : this.place <= end;
    }
  }

  // Of several scenes one is drawn at a time.
  show(scene) {
    this.scenes.forEach((element, index) => { element.hidden = index !== scene; });
    for (const button of this.exhibit.root.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.show) === scene));
    }
  }
}
