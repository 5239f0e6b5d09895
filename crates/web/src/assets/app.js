// The application: uploads, parts of pages that come later, slices of transactions, the progress of jobs.
(() => {
  "use strict";

  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  async function fragment(address, into) {
    into.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address);
      if (answer.ok) {
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
  }

  all("[data-load]").forEach((element) => fragment(element.dataset.load, element));

  for (const form of all("[data-slices]")) {
    const into = one("[data-slice]", form.parentElement);
    const show = () => fragment(`${form.dataset.slices}?${new URLSearchParams(new FormData(form))}`, into);
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
    const [doing, bar, numbers] = ["[data-doing]", "[data-progress]", "[data-numbers]"].map((name) => one(name, box));
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
      // Said aloud only when it changes.
      if (doing.textContent !== text) doing.textContent = text;
      const count = told.total ? `${told.done} of ${told.total} done, ` : told.done ? `${told.done} done, ` : "";
      numbers.textContent = `${count}${told.seconds.toFixed(1)} s`;
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
    });
  }
})();
