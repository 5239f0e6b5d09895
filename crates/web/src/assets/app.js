// The application: uploads, parts of pages that come later, slices of transactions, the progress of jobs.
(() => {
  "use strict";

  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  async function fragment(address, into) {
    into.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address);
      if (answer.status === 401) {
        // The server was started again, and wants the token once more.
        location.reload();
      } else if (answer.ok) {
        // Made by our server, which escapes whatever a history calls things.
        into.innerHTML = await answer.text();
      } else {
        const { error } = await answer.json();
        into.textContent = error;
      }
    } catch {
      into.textContent = "The server does not answer.";
    }
    into.removeAttribute("aria-busy");
    reachable();
  }

  // Tables that scroll sideways can be reached by keyboard; those that fit are no stop on the way.
  function reachable() {
    for (const box of all(".table")) {
      const label = one("table", box).getAttribute("aria-label");
      if (box.scrollWidth > box.clientWidth) {
        for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", label]]) box.setAttribute(name, value);
      } else {
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      }
    }
  }
  addEventListener("resize", reachable);
  reachable();

  all("[data-load]").forEach((element) => fragment(element.dataset.load, element));

  for (const form of all("[data-slices]")) {
    const [into, count] = ["[data-slice]", "[data-count]"].map((name) => one(name, form.parentElement));
    const show = async () => {
      // The buttons are in what is replaced: whoever used one by keyboard stays at it, or at the other one if it has done its work.
      const used = all("[data-to]", into).indexOf(document.activeElement);
      await fragment(`${form.dataset.slices}?${new URLSearchParams(new FormData(form))}`, into);
      const buttons = all("[data-to]", into);
      if (used >= 0) (buttons[used]?.disabled ? buttons[1 - used] : buttons[used])?.focus();
      count.textContent = one("[data-total]", into)?.textContent ?? into.textContent;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      show();
    });
    into.addEventListener("click", (event) => {
      const button = event.target.closest("[data-to]");
      if (!button) return;
      form.elements.offset.value = button.dataset.to;
      show();
    });
    show();
  }

  for (const form of all("[data-upload]")) {
    const said = one("[data-said]", form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const file = form.elements.file.files[0];
      if (!file) return;
      said.textContent = "Uploading…";
      try {
        const address = `/uploads?name=${encodeURIComponent(file.name)}`;
        const answer = await fetch(address, { method: "POST", body: file, headers: { "X-Isonomy": "1" } });
        const told = await answer.json();
        if (answer.ok) location.assign(told.page);
        else said.textContent = told.error;
      } catch {
        said.textContent = "The upload broke off.";
      }
    });
  }

  for (const form of all("[data-compare]")) {
    const button = one("button", form);
    const update = () => (button.disabled = all("input:checked", form).length !== 2);
    form.addEventListener("change", update);
    update();
  }

  for (const box of all("[data-job]")) {
    const [doing, aloud, bar, numbers] = ["[data-doing]", "[data-aloud]", "[data-progress]", "[data-numbers]"].map((name) => one(name, box));
    // What is said aloud must not be said all the time: rates change with every event.
    let said = -Infinity;
    const say = (text) => {
      if (performance.now() - said < 10000) return;
      said = performance.now();
      aloud.textContent = text;
    };
    const counted = ({ done, total }) => {
      if (box.dataset.counts === "bytes") return total ? `${Math.floor((100 * done) / total)} % of the file read, ` : "";
      return total ? `${done} of ${total} committed, ` : `${done} committed, `;
    };
    const events = new EventSource(`/jobs/${box.dataset.job}/events`);
    events.onmessage = (event) => {
      const told = JSON.parse(event.data);
      const running = told.state === "running" || told.state === "stopping";
      if (!running) {
        events.close();
        location.reload();
        return;
      }
      const text = told.state === "stopping" ? "stopping" : told.doing;
      doing.textContent = text;
      numbers.textContent = `${counted(told)}${told.seconds.toFixed(1)} s`;
      say(`${text}, ${numbers.textContent}`);
      if (told.total) {
        bar.max = told.total;
        bar.value = Math.min(told.done, told.total);
      } else {
        bar.removeAttribute("value");
      }
    };
    const stop = one("form", box);
    stop.addEventListener("submit", async (event) => {
      event.preventDefault();
      await fetch(stop.action, { method: "POST", headers: { "X-Isonomy": "1" }, redirect: "manual" });
      // Whoever does not want to wait for what it still does asks again.
      one("button", stop).textContent = "Stop at once";
    });
  }
})();
