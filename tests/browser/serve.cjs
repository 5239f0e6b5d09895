// Opens the web application in a real browser, and uses it: a check, its counterexamples, slices, an upload, a run, a comparison, exports, narrow windows, the keyboard alone.
//
// How to run it: harness.cjs.
"use strict";
const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { accessible } = require("./accessible.cjs");
const { isonomy, folder, WIDE, NARROW, open, close, count, fits, run } = require("./harness.cjs");

const corpus = path.join(__dirname, "../../corpus");

// What violates causal is not what violates adya-si, which does not know sessions.
const TWO_STORIES = `s1: [w(x,1)] [r(x,_)]
s2: [r(y,_) w(y,1)]
s3: [r(y,_) w(y,2)]
`;

// Starts a server on a folder with some histories, one of which has a nasty name for a key.
async function serve() {
  const histories = fs.mkdtempSync(path.join(os.tmpdir(), "isonomy-browser-"));
  fs.copyFileSync(path.join(corpus, "lost-update.hist"), path.join(histories, "lost-update.hist"));
  fs.writeFileSync(path.join(histories, "two-stories.hist"), TWO_STORIES);
  const line = (n) => JSON.stringify({ session: n % 3, start: n * 1e6, finish: n * 1e6 + 5e5, ops: [["w", "<img src=x onerror=alert(1)>", n]] });
  fs.writeFileSync(path.join(histories, "many.jsonl"), Array.from({ length: 300 }, (_, n) => line(n)).join("\n") + "\n");
  const child = spawn(isonomy, ["serve", "--address", "0", "--dir", histories], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", (code) => reject(new Error(`isonomy serve ended with ${code}`)));
  });
  return { child, url, histories };
}

// At both widths: nothing sticks out, no verdict is cut off, all is accessible, and a picture is left, light and dark.
async function looks(tab, name) {
  for (const [size, suffix] of [[NARROW, "-400"], [WIDE, ""]]) {
    await tab.setViewportSize(size);
    await fits(tab);
    for (const box of await tab.locator("td .violated, td .holds, td .link, td a, td.number").all()) {
      const place = await box.boundingBox();
      assert.ok(!place || place.x + place.width <= size.width, `${name}: ${await box.innerText()} is cut off at ${size.width}`);
    }
    await accessible(tab, name);
    for (const colorScheme of ["dark", "light"]) {
      await tab.emulateMedia({ colorScheme });
      const file = `serve-${name}${suffix}${colorScheme === "dark" ? "-dark" : ""}.png`;
      await tab.screenshot({ path: path.join(folder, file), fullPage: true });
    }
  }
}

async function saves(tab, names) {
  for (const name of names) {
    const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("link", { name, exact: true }).click()]);
    assert.ok(fs.statSync(await download.path()).size > 0, name);
  }
}

const tests = {
  async "a check shows its verdict and its counterexample"(browser, { url }) {
    const tab = await open(browser, url);
    await looks(tab, "home");
    await tab.getByRole("link", { name: "lost-update.hist" }).click();
    await tab.locator("[data-slice] table").waitFor();
    await looks(tab, "history");
    await tab.locator("input[value='snapshot-isolation']").check();
    await tab.getByRole("button", { name: "Check", exact: true }).click();
    await tab.locator(".exhibit").waitFor();
    assert.ok((await count(tab, "td .violated")) > 0);
    await looks(tab, "check");
    // An edge, by pointer.
    await tab.locator(".ring .edge-label").first().click();
    assert.ok((await count(tab, ".timeline .edge.on")) > 0);
    // The story, by keyboard.
    await tab.keyboard.press("ArrowRight");
    assert.equal(await count(tab, ".step.on"), 1);
    await saves(tab, ["JSON", "Page", "Drawing", "Certificate"]);
    await tab.getByRole("button", { name: "Dark colours" }).click();
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark");
    await tab.getByRole("link", { name: "Histories", exact: true }).click();
    assert.match(await tab.locator("main").innerText(), /snapshot-isolation violated: lost-update/);
    await close(tab);
  },

  async "each violated level leads to its own counterexample"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByRole("link", { name: "two-stories.hist" }).click();
    for (const level of ["causal", "adya-si"]) await tab.locator(`input[value='${level}']`).check();
    await tab.getByLabel(/Count constraints/).check();
    await tab.getByRole("button", { name: "Check", exact: true }).click();
    await tab.getByRole("heading", { name: "Why causal is violated" }).waitFor();
    assert.match(await tab.locator(".exhibit").innerText(), /session-guarantee-violation/);
    await looks(tab, "levels");
    await tab.getByRole("link", { name: "Show why adya-si is violated" }).click();
    await tab.getByRole("heading", { name: "Why adya-si is violated" }).waitFor();
    assert.equal(await count(tab, ".exhibit"), 1);
    assert.match(await tab.locator(".exhibit").innerText(), /lost-update/);
    await tab.keyboard.press("ArrowRight");
    assert.equal(await count(tab, ".step.on"), 1);
    // The page of the history leads there, too.
    await tab.getByRole("link", { name: "two-stories.hist" }).click();
    await tab.getByRole("link", { name: "Show why adya-si is violated" }).click();
    await tab.getByRole("heading", { name: "Why adya-si is violated" }).waitFor();
    await tab.getByRole("link", { name: "Histories", exact: true }).click();
    await looks(tab, "home-checked");
    await close(tab);
  },

  async "transactions come in slices"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByRole("link", { name: "many.jsonl" }).click();
    await tab.locator("[data-slice] table").waitFor();
    assert.match(await tab.locator("[data-slice]").innerText(), /1 to 50 of 300/);
    await tab.getByRole("button", { name: "Next", exact: true }).click();
    await tab.getByText("51 to 100 of 300").last().waitFor();
    await tab.locator("input[name=session]").fill("2");
    await tab.locator("input[name=offset]").fill("0");
    await tab.getByRole("button", { name: "Show" }).click();
    await tab.getByText("1 to 50 of 100").last().waitFor();
    await tab.locator(".plot").first().waitFor();
    assert.equal(await count(tab, ".plot"), 2);
    assert.match(await tab.locator(".plot").nth(1).innerText(), /None aborted/);
    await looks(tab, "slices");
    await close(tab);
  },

  async "a history is uploaded"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByLabel(/^Upload a history/).setInputFiles(path.join(corpus, "write-skew.hist"));
    await tab.getByRole("button", { name: "Upload", exact: true }).click();
    await tab.getByRole("heading", { name: "write-skew.hist" }).waitFor();
    await saves(tab, ["Save the history"]);
    await close(tab);
  },

  async "what is no history is not taken"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByLabel(/^Upload a history/).setInputFiles({ name: "x.jsonl", mimeType: "text/plain", buffer: Buffer.from([0, 1, 2]) });
    await tab.getByRole("button", { name: "Upload", exact: true }).click();
    await tab.getByText("this is not a history").waitFor();
    // The browser itself tells of an answer that is no success.
    tab.complaints = tab.complaints.filter((text) => !text.includes("422"));
    await close(tab);
  },

  async "a run is started and stopped, and stays"(browser, { url }) {
    const tab = await open(browser, new URL("/runs/new", url).href);
    await looks(tab, "new-run");
    // It waits for its disk: the simulated store would record more than can be checked while pictures are made.
    await tab.locator("input[name=db]").fill("sqlite");
    await tab.locator("input[name=duration]").fill("600");
    await tab.getByRole("button", { name: "Run" }).click();
    await tab.getByText("% aborted", { exact: false }).first().waitFor();
    assert.match(await tab.getByRole("status").innerText(), /./);
    await looks(tab, "running");
    await tab.getByRole("button", { name: "Stop" }).click();
    await tab.getByRole("link", { name: /^The run/ }).click({ timeout: 60000 });
    assert.match(await tab.locator("main").innerText(), /interrupted/);
    await close(tab);
  },

  async "a run leads to its counterexample"(browser, { url }) {
    const tab = await open(browser, new URL("/runs/new", url).href);
    await tab.locator("input[name=db]").fill("mock:read-atomic");
    await tab.locator("select[name=level]").selectOption("causal");
    await tab.locator("input[name=transactions]").fill("2000");
    await tab.getByRole("button", { name: "Run" }).click();
    // Its own page shows the one of the weakest level, and leads to the others.
    await tab.getByRole("heading", { name: "Why causal is violated" }).waitFor({ timeout: 60000 });
    assert.ok((await count(tab, ".exhibit .step")) > 0);
    await tab.getByRole("button", { name: "Show why serializable is violated" }).waitFor();
    await looks(tab, "run-job");
    await tab.getByRole("link", { name: /^The run/ }).click();
    await tab.locator(".plot").first().waitFor();
    await looks(tab, "run");
    // So does the page of what it left, with one click.
    await tab.getByRole("button", { name: "Show why causal is violated" }).click();
    await tab.getByRole("heading", { name: "Why causal is violated" }).waitFor({ timeout: 60000 });
    await tab.locator(".exhibit .step").first().click();
    assert.equal(await count(tab, ".step.on"), 1);
    await close(tab);
  },

  async "two are compared"(browser, { url, histories }) {
    const tab = await open(browser, url);
    const button = tab.getByRole("button", { name: "Compare" });
    assert.ok(await button.isDisabled());
    // The second half as long as the first: with the same axes it fills half of the plot.
    const lines = fs.readFileSync(path.join(histories, "many.jsonl"), "utf8").split("\n");
    fs.writeFileSync(path.join(histories, "fewer.jsonl"), lines.slice(0, 150).join("\n") + "\n");
    await tab.reload();
    await tab.getByLabel("Compare many.jsonl").check();
    await tab.getByLabel("Compare fewer.jsonl").check();
    await button.click();
    await tab.locator(".plot svg").nth(1).waitFor();
    const scales = await tab.locator(".plot svg").evaluateAll((plots) => plots.map((plot) => [...plot.querySelectorAll("text")].map((text) => text.textContent).join()));
    assert.equal(scales[0], scales[1]);
    const ratio = await tab.getByRole("row", { name: /^transactions / }).getByRole("cell").last().innerText();
    assert.ok(["0.50", "2.00"].includes(ratio), ratio);
    await looks(tab, "compare");
    await close(tab);
  },

  async "everything can be done by keyboard"(browser, { url }) {
    const tab = await open(browser, url);
    const at = () => tab.evaluate(() => document.activeElement.ariaLabel || document.activeElement.textContent.trim() || document.activeElement.value);
    // Goes on until something is reached. What has the focus shows it.
    const reach = async (name) => {
      for (let presses = 0; presses < 80; presses += 1) {
        await tab.keyboard.press("Tab");
        const outline = await tab.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.notEqual(outline, "none", `${await at()} has the focus, and does not show it`);
        if ((await at()) === name) return;
      }
      assert.fail(`${name} cannot be reached`);
    };
    await reach("Skip to the content");
    await tab.keyboard.press("Enter");
    await reach("lost-update.hist");
    await tab.keyboard.press("Enter");
    await tab.getByRole("heading", { name: "lost-update.hist" }).waitFor();
    await reach("serializable");
    await tab.keyboard.press("Space");
    await reach("Check");
    await tab.keyboard.press("Enter");
    await tab.locator(".exhibit").waitFor();
    await reach("Next step");
    await tab.keyboard.press("Enter");
    assert.equal(await count(tab, ".step.on"), 1);
    // The buttons of slices stay under the finger.
    await tab.goto(url);
    await reach("many.jsonl");
    await tab.keyboard.press("Enter");
    await tab.getByText("1 to 50 of 300").last().waitFor();
    await reach("Next");
    await tab.keyboard.press("Enter");
    await tab.getByText("51 to 100 of 300").last().waitFor();
    assert.equal(await at(), "Next");
    assert.equal(await tab.getByRole("status").last().innerText(), "51 to 100 of 300");
    await close(tab);
  },
};

(async () => {
  const served = await serve();
  await run(tests, served);
  served.child.removeAllListeners("exit");
  served.child.kill("SIGINT");
  fs.rmSync(served.histories, { recursive: true, force: true });
})();
