// Opens pages that the command writes in a real browser, and uses them: steps, clicks, keys, colours, narrow windows, paper.
//
// How to run it: harness.cjs.
"use strict";
const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { isonomy, folder, NARROW, open, close, count, fits, run } = require("./harness.cjs");

const corpus = path.join(__dirname, "../../corpus");
const { nasty, long, nested } = require("./histories.cjs");

// Runs the command, and returns the address of the page that it wrote.
function page(name, ...args) {
  const file = path.join(folder, `${name}.html`);
  const ran = spawnSync(isonomy, [...args, "--html", file], { encoding: "utf8" });
  assert.ok(ran.status === 0 || ran.status === 1, `isonomy ${args.join(" ")}: ${ran.stderr}`);
  return `file://${file}`;
}

function history(name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

const of = (name) => path.join(corpus, `${name}.hist`);

const now = (tab) => tab.locator(".now").first().innerText();

async function controlsHaveNames(tab) {
  const without = await tab.evaluate(() =>
    [...document.querySelectorAll("button,[role=button],a")]
      .filter((element) => !(element.ariaLabel || element.textContent.trim()))
      .map((element) => element.outerHTML));
  assert.deepEqual(without, []);
}

const tests = {
  async "stepping through lights up both drawings"(browser) {
    const tab = await open(browser, page("lost-update", "check", of("lost-update")));
    await controlsHaveNames(tab);
    await fits(tab);
    await tab.screenshot({ path: path.join(folder, "lost-update.png"), fullPage: true });
    const steps = await count(tab, ".step");
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("ArrowRight");
    assert.equal(await tab.locator(".count").innerText(), `2 / ${steps}`);
    // The second sentence is the circle of one of two cases.
    for (const drawing of [".timeline", ".ring"]) {
      assert.equal(await count(tab, `${drawing} .edge.on`), 2, drawing);
      assert.equal(await count(tab, `${drawing} .edge-label.on`), 2, drawing);
    }
    assert.ok((await count(tab, ".timeline .did.on")) > 0 && (await count(tab, ".card .event.on")) > 0);
    assert.equal(await count(tab, ".step[aria-current]"), 1);
    assert.match(await now(tab), /^1\.1\. /);
    await tab.screenshot({ path: path.join(folder, "lost-update-step.png"), fullPage: true });
    await tab.keyboard.press("ArrowLeft");
    assert.match(await now(tab), /^1\. /);
    await tab.keyboard.press("End");
    assert.equal(await tab.locator(".count").innerText(), `${steps} / ${steps}`);
    assert.ok(await tab.locator("[data-do=next]").isDisabled());
    await tab.keyboard.press("Home");
    assert.equal(await tab.locator(".count").innerText(), `1 / ${steps}`);
    await tab.keyboard.press("Escape");
    assert.equal(await count(tab, ".on"), 0);
    assert.equal(await tab.locator(".count").innerText(), `0 / ${steps}`);
    await close(tab);
  },

  async "whatever is chosen is chosen everywhere"(browser) {
    const tab = await open(browser, page("causality-violation", "check", of("causality-violation")));
    // An edge, by pointer.
    await tab.locator(".ring .edge-label").first().hover();
    assert.ok((await count(tab, ".timeline .edge.hot")) === 1 && (await count(tab, ".ring .edge.hot")) === 1);
    await tab.locator(".ring .edge-label").first().click();
    assert.equal(await count(tab, ".timeline .edge.on"), 1);
    assert.match(await now(tab), /: .* comes before .*: /);
    // A transaction, by keyboard.
    await tab.locator(".timeline .txn[data-txn=t0]").focus();
    await tab.keyboard.press("Enter");
    assert.ok((await count(tab, ".card.on")) === 1 && (await count(tab, ".ring .txn.on")) === 1);
    assert.match(await now(tab), /session/);
    // An event.
    await tab.locator(".card .event").first().click();
    assert.equal(await count(tab, ".timeline .did.on"), 1);
    assert.ok((await count(tab, ".timeline .edge.by")) > 0 && (await count(tab, ".ring .edge.by")) > 0);
    // A key.
    await tab.locator("[data-filter]").first().click();
    assert.equal(await tab.locator("[data-filter]").first().getAttribute("aria-pressed"), "true");
    assert.ok((await count(tab, ".timeline .off")) > 0 && (await count(tab, ".ring .off")) > 0);
    await tab.screenshot({ path: path.join(folder, "causality-violation-key.png"), fullPage: true });
    await tab.locator("[data-filter]").first().click();
    assert.equal(await count(tab, ".off"), 0);
    await close(tab);
  },

  async "cases are folded and drawn one at a time"(browser) {
    const tab = await open(browser, page("cases", "check", "--level", "serializable", history("nested.hist", nested)));
    await tab.screenshot({ path: path.join(folder, "cases.png"), fullPage: true });
    const scenes = await count(tab, ".scene");
    assert.ok(scenes > 2, `${scenes} scenes`);
    assert.equal(await count(tab, ".scene:not([hidden])"), 1);
    const steps = await count(tab, ".step");
    const seen = new Set();
    for (let step = 0; step < steps; step++) {
      await tab.keyboard.press("ArrowRight");
      seen.add(await tab.locator(".scene:not([hidden])").getAttribute("data-scene"));
      assert.equal(await count(tab, ".step.on:visible"), 1);
    }
    assert.equal(seen.size, scenes);
    await tab.screenshot({ path: path.join(folder, "cases-last.png"), fullPage: true });
    await tab.locator(".fold").first().click();
    assert.equal(await tab.locator(".fold").first().getAttribute("aria-expanded"), "false");
    assert.equal(await count(tab, ".step:visible"), 1);
    await tab.keyboard.press("ArrowLeft");
    assert.equal(await tab.locator(".fold").first().getAttribute("aria-expanded"), "true");
    await close(tab);
  },

  async "times are on the axis, and it is dark at night"(browser) {
    const address = page("real-time", "check", of("real-time-violation"));
    const tab = await open(browser, address, { colorScheme: "dark" });
    const colour = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const night = await colour();
    assert.ok((await count(tab, ".timeline .tick")) > 1);
    await tab.screenshot({ path: path.join(folder, "real-time-dark.png"), fullPage: true });
    assert.equal(await tab.locator(".theme").getAttribute("aria-pressed"), "true");
    await tab.locator(".theme").click();
    assert.notEqual(await colour(), night);
    assert.equal(await tab.locator(".theme").getAttribute("aria-pressed"), "false");
    await close(tab);
  },

  async "names are text whatever they say"(browser) {
    const tab = await open(browser, page("nasty", "check", history("nasty.jsonl", nasty)));
    assert.ok((await tab.locator(".story").innerText()).includes("<script>"));
    assert.equal(await tab.evaluate(() => window.harmed), undefined);
    await tab.keyboard.press("ArrowRight");
    await fits(tab);
    await tab.screenshot({ path: path.join(folder, "nasty.png"), fullPage: true });
    await tab.setViewportSize(NARROW);
    await fits(tab);
    await close(tab);
  },

  async "events are folded, and counted beyond some hundreds"(browser) {
    const tab = await open(browser, page("long", "check", history("long.jsonl", long)));
    assert.equal(await count(tab, ".other:visible"), 0);
    await tab.locator(".timeline .unfolds").first().click();
    assert.equal(await count(tab, ".other:visible"), 300);
    assert.match(await tab.locator(".events .hint").innerText(), /and \d+ more/);
    await tab.locator(".unfold[aria-expanded=true]").click();
    assert.equal(await count(tab, ".other:visible"), 0);
    await tab.emulateMedia({ media: "print" });
    assert.equal(await count(tab, ".other:visible"), 300);
    assert.equal(await count(tab, ".control:visible"), 0);
    await close(tab);
  },

  async "narrow windows, and paper"(browser) {
    const address = page("several", "check", of("long-fork"), of("write-skew"), of("blind-writers"));
    const tab = await open(browser, address, { viewport: NARROW });
    await fits(tab);
    await tab.screenshot({ path: path.join(folder, "several-400.png"), fullPage: true });
    await tab.keyboard.press("ArrowRight");
    await tab.locator(".step").first().click();
    await tab.locator(".bar").first().evaluate((bar) => bar.scrollIntoView());
    await tab.screenshot({ path: path.join(folder, "several-400-step.png") });
    await fits(tab);
    await close(tab);
    const paper = await open(browser, page("paper", "check", "--level", "serializable", of("lost-update-of-a-write")));
    await paper.emulateMedia({ media: "print" });
    assert.equal(await count(paper, ".scene:visible"), await count(paper, ".scene"));
    await paper.pdf({ path: path.join(folder, "paper.pdf"), format: "A4" });
    await close(paper);
  },

  async "without a violation there is a table"(browser) {
    const tab = await open(browser, page("holds", "check", "--level", "causal", of("blind-writers")));
    assert.ok((await count(tab, "td.holds")) === 1 && (await count(tab, ".exhibit")) === 0);
    await close(tab);
  },

  async "without scripts everything is there"(browser) {
    const tab = await open(browser, `file://${path.join(folder, "cases.html")}`, { javaScriptEnabled: false });
    assert.equal(await count(tab, ".scene:visible"), await count(tab, ".scene"));
    assert.equal(await count(tab, ".control:visible"), 0);
    await close(tab);
  },

  async "a run has the same look"(browser) {
    const tab = await open(browser, page("run", "run", "--quiet"));
    assert.ok((await count(tab, "td.violated")) > 0);
    await tab.keyboard.press("ArrowRight");
    assert.equal(await count(tab, ".step.on"), 1);
    await tab.screenshot({ path: path.join(folder, "run.png"), fullPage: true });
    await close(tab);
  },

  async "the gallery has them all"(browser) {
    const tab = await open(browser, page("gallery", "anomalies"));
    assert.equal(await count(tab, ".exhibit"), 26);
    await controlsHaveNames(tab);
    await fits(tab);
    await tab.screenshot({ path: path.join(folder, "gallery.png") });
    // Arrows move the exhibit in sight; home and end are those of the page.
    await tab.locator("#x18").scrollIntoViewIfNeeded();
    await tab.locator("#x18 .step").first().click();
    await tab.keyboard.press("ArrowRight");
    assert.equal(await tab.locator("#x18 .count").innerText().then((text) => text[0]), "2");
    await tab.setViewportSize(NARROW);
    await fits(tab);
    await tab.screenshot({ path: path.join(folder, "gallery-400.png") });
    await close(tab);
  },
};

run(tests);
