// An exhibit: what is chosen in it, and what that lights up in the drawings, the story and the transactions.
//
// Everything that can be chosen has a name in an attribute: data-edge, data-txn, data-event, data-step. The JSON beside says which names belong
// together. Names are numbers of ours; whatever the history calls things is only ever text.

const smooth = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";

class Exhibit {
  constructor(root) {
    this.root = root;
    this.data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    this.now = root.querySelector(".now");
    this.idle = this.now.textContent;
    this.story = new Story(this);
    this.key = null;
    // For each name, its elements: there are several of each, and the pointer moves often.
    this.elements = new Map();
    for (const kind of ["edge", "txn", "event", "step"]) {
      for (const element of root.querySelectorAll(`[data-${kind}]`)) {
        const name = `${kind} ${element.dataset[kind]}`;
        this.elements.set(name, [...(this.elements.get(name) ?? []), element]);
      }
    }
    root.addEventListener("click", (event) => this.clicked(event));
    root.addEventListener("keydown", (event) => this.pressed(event));
    root.addEventListener("pointerover", (event) => this.hovered(event.target));
    root.addEventListener("pointerleave", () => this.hovered(null));
    root.addEventListener("focusin", (event) => this.hovered(event.target));
    this.clear();
  }

  // What an element is a part of: its kind and its name.
  static named(element) {
    const found = element?.closest("[data-edge],[data-event],[data-step],[data-txn]");
    for (const kind of ["edge", "event", "step", "txn"]) {
      if (found?.dataset[kind] !== undefined) return [kind, found.dataset[kind]];
    }
    return null;
  }

  // All that belongs to something: what is meant, what that rests on, and whom it is about.
  related(kind, name) {
    const { edges, steps } = this.data;
    const on = new Set([`${kind} ${name}`]);
    const by = new Set();
    const addEdge = (edge) => {
      on.add(`edge ${edge}`).add(`txn ${edges[edge].from}`).add(`txn ${edges[edge].to}`);
      edges[edge].events.forEach((event) => on.add(`event ${event}`));
    };
    if (kind === "edge") {
      addEdge(name);
      steps.forEach((step, index) => step.edges.includes(name) && on.add(`step ${index}`));
      // With the edge comes what it rests on, if a sentence says so.
      const own = steps.find((step) => step.edges.length === 1 && step.edges[0] === name);
      own?.reasons.forEach((edge) => by.add(`edge ${edge}`));
    } else if (kind === "step") {
      const step = steps[name];
      step.edges.forEach(addEdge);
      step.txns.forEach((txn) => on.add(`txn ${txn}`));
      step.events.forEach((event) => on.add(`event ${event}`).add(`txn ${event.split(".")[0]}`));
      step.reasons.forEach((edge) => by.add(`edge ${edge}`));
    } else {
      for (const [edge, { from, to, events }] of Object.entries(edges)) {
        if (kind === "txn" ? from === name || to === name : events.includes(name)) by.add(`edge ${edge}`);
      }
      if (kind === "event") on.add(`txn ${name.split(".")[0]}`);
    }
    return { on, by };
  }

  mark(names, mark) {
    this.root.querySelectorAll(`.${mark}`).forEach((element) => element.classList.remove(mark));
    for (const name of names) {
      this.elements.get(name)?.forEach((element) => element.classList.add(mark));
    }
  }

  hovered(target) {
    const named = Exhibit.named(target);
    this.mark(named ? this.related(...named).on : [], "hot");
  }

  // Lights something up everywhere, tells it, and brings it into sight.
  choose(kind, name, from) {
    const { on, by } = this.related(kind, name);
    this.mark(on, "on");
    this.mark([...by].filter((one) => !on.has(one)), "by");
    this.root.classList.add("choosing");
    const scene = kind === "edge" ? this.data.edges[name].scene : kind === "step" ? this.data.steps[name].scene : null;
    if (scene !== null) this.story.show(scene);
    this.tell(this.words(kind, name));
    this.root.querySelector('[data-do="clear"]').hidden = false;
    this.reveal(on, from);
    this.bringDrawings(from);
  }

  clear() {
    this.mark([], "on");
    this.mark([], "by");
    this.root.classList.remove("choosing");
    this.root.querySelector('[data-do="clear"]').hidden = true;
    this.tell(this.idle);
    this.now.classList.add("idle");
  }

  tell(text) {
    this.now.textContent = text;
    this.now.scrollTop = 0;
    this.now.classList.remove("idle");
  }

  words(kind, name) {
    const elements = this.elements.get(`${kind} ${name}`) ?? [];
    if (kind === "edge") return `${this.data.edges[name].label}: ${this.data.edges[name].why}`;
    if (kind === "step") return [...elements[0].children].map((part) => part.textContent).join(". ");
    if (kind === "event") return elements.find((element) => element.ariaLabel)?.ariaLabel ?? elements[0].textContent;
    const card = elements.find((element) => element.matches(".card"));
    if (card) return `${card.querySelector("p").textContent}, ${card.querySelector(".where").textContent}`;
    return elements.find((element) => element.ariaLabel)?.ariaLabel ?? "";
  }

  // Whoever chose something elsewhere wants to see it drawn. A drawing that is in sight stays where it is.
  bringDrawings(from) {
    const drawings = this.root.querySelector(".drawings");
    const timeline = this.root.querySelector(".scene:not([hidden]) .timeline");
    if (!timeline || drawings.contains(from)) return;
    const { top, bottom, height } = timeline.getBoundingClientRect();
    const seen = Math.min(bottom, innerHeight) - Math.max(top, this.root.querySelector(".bar").offsetHeight);
    if (seen < 0.7 * Math.min(height, innerHeight / 2)) drawings.scrollIntoView({ block: "start", behavior: smooth });
  }

  // Scrolls within drawings and lists.
  reveal(names, from) {
    for (const box of this.root.querySelectorAll(".scroll,.told")) {
      if (box.contains(from) || box.scrollWidth <= box.clientWidth + 1 && box.scrollHeight <= box.clientHeight + 1) continue;
      const inside = [...names].flatMap((name) => this.elements.get(name) ?? []).find((element) => box.contains(element));
      if (!inside) continue;
      const [outer, inner] = [box.getBoundingClientRect(), inside.getBoundingClientRect()];
      const middle = (start, size, outerStart, outerSize) =>
        start < outerStart || start + size > outerStart + outerSize ? start + size / 2 - outerStart - outerSize / 2 : 0;
      box.scrollBy({
        left: middle(inner.left, inner.width, outer.left, outer.width),
        top: middle(inner.top, inner.height, outer.top, outer.height),
        behavior: smooth,
      });
    }
  }

  // Greys out what is not about a key; the same key again shows all.
  filter(key) {
    this.key = this.key === key ? null : key;
    for (const chip of this.root.querySelectorAll("[data-filter]")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.filter === this.key));
    }
    for (const element of this.root.querySelectorAll("[data-key]")) {
      element.classList.toggle("off", this.key !== null && !element.dataset.key.split(" ").includes(this.key));
    }
  }

  clicked({ target }) {
    const button = target.closest("button,[role=button]");
    if (button?.dataset.do) return this.story.go(button.dataset.do);
    if (button?.dataset.filter) return this.filter(button.dataset.filter);
    if (button?.dataset.show) return this.story.show(Number(button.dataset.show));
    if (button?.dataset.unfold) return openCard(this.root, button.dataset.unfold);
    if (button?.matches(".fold,.unfold")) return toggleFold(button);
    const named = Exhibit.named(target);
    if (!named) return;
    const [kind, name] = named;
    if (kind === "step") this.story.at(Number(name), target);
    else {
      this.story.leave();
      this.choose(kind, name, target);
    }
  }

  // What is no button to the browser is one to us.
  pressed(event) {
    if (event.key !== "Enter" && event.key !== " ") return;
    if (event.target.getAttribute("role") !== "button") return;
    event.preventDefault();
    this.clicked(event);
  }
}
