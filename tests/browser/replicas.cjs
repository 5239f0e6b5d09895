// Opens pages of replicated data types in a real browser, and uses them: steps, clicks, keys, colours, narrow windows, paper.
//
// How to run it: harness.cjs.
"use strict";
const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { accessible } = require("./accessible.cjs");
const { isonomy, folder, NARROW, open, close, count, fits, run } = require("./harness.cjs");

// A replica knows of the second increment and not of the first.
const lost = "a: inc(x) inc(y)\nb: read(y)=1 read(x)=0\n";
const fine = "a: inc(x) read(x)=1\nb: read(x)=1\n";
const evil = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>";
const nasty = `${JSON.stringify({ replica: evil, ops: [["inc", evil], ["read", evil, 0]] })}\n`;

// Writes histories, lets the command check them, and returns the address of its page.
function page(name, ...histories) {
  const files = histories.map((text, index) => {
    const file = path.join(folder, `${name}-${index}.${text.startsWith("{") ? "jsonl" : "crdt"}`);
    fs.writeFileSync(file, text);
    return file;
  });
  const html = path.join(folder, `${name}.html`);
  const ran = spawnSync(isonomy, ["crdt", "check", "--type", "counter", "--html", html, ...files], { encoding: "utf8" });
  assert.ok(ran.status === 0 || ran.status === 1, `${name}: ${ran.stderr}`);
  return `file://${html}`;
}

const shot = (tab, name) => tab.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });

const tests = {
  async "stepping through lights up operations and arrows"(browser) {
    const tab = await open(browser, page("replicas", lost));
    await accessible(tab, "replicas");
    await fits(tab);
    assert.equal(await count(tab, "td.violated"), 1);
    const steps = await count(tab, ".step");
    assert.ok(steps > 0);
    let arrows = 0;
    for (let step = 1; step <= steps; step++) {
      await tab.keyboard.press("ArrowRight");
      assert.equal(await tab.locator(".count").innerText(), `${step} / ${steps}`);
      assert.equal(await count(tab, ".step.on"), 1);
      // Whatever is lit in the drawing is lit below it.
      assert.equal(await count(tab, ".timeline .txn.on"), await count(tab, ".card .event.on"));
      arrows += await count(tab, ".timeline .edge.on");
    }
    assert.ok(arrows > 0, "no step has an arrow");
    await shot(tab, "replicas");
    await tab.keyboard.press("Escape");
    assert.equal(await count(tab, ".on"), 0);
    await close(tab);
  },

  async "operations and arrows are chosen by pointer and by keyboard"(browser) {
    const tab = await open(browser, page("replicas", lost));
    await tab.locator(".timeline .txn").first().focus();
    await tab.keyboard.press("Enter");
    assert.equal(await count(tab, ".card .event.on"), 1);
    assert.match(await tab.locator(".now").innerText(), /^a:1 inc\(x\), line 1$/);
    await tab.locator(".card .event").last().click();
    assert.equal(await count(tab, ".timeline .txn.on"), 1);
    await tab.locator(".timeline .edge-label").first().click();
    assert.equal(await count(tab, ".timeline .edge.on"), 1);
    assert.match(await tab.locator(".now").innerText(), /^(saw|missed|later): /);
    await close(tab);
  },

  async "several histories, narrow windows, the night, and paper"(browser) {
    const address = page("replicas-several", lost, fine, lost);
    const tab = await open(browser, address, { viewport: NARROW, colorScheme: "dark" });
    await fits(tab);
    assert.deepEqual([await count(tab, "td.holds"), await count(tab, ".exhibit")], [1, 2]);
    await shot(tab, "replicas-400-dark");
    await tab.emulateMedia({ media: "print" });
    assert.equal(await count(tab, ".control:visible"), 0);
    await close(tab);
  },

  async "names are text whatever they say"(browser) {
    const tab = await open(browser, page("replicas-nasty", nasty));
    assert.ok((await tab.locator(".cards").innerText()).includes("<script>"));
    await tab.keyboard.press("ArrowRight");
    assert.equal(await tab.evaluate(() => window.harmed), undefined);
    await tab.setViewportSize(NARROW);
    await fits(tab);
    await close(tab);
  },
};

run(tests);
