// Opens the web application in a real browser, and uses it: a check, its counterexample, slices, an upload, a run, a comparison, narrow windows.
//
//   node tests/browser/serve.cjs ISONOMY FOLDER
//
// Screenshots are left in FOLDER. Needs playwright-core and Chromium; `scripts/browser` finds or installs them.
"use strict";
const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [isonomy, folder] = process.argv.slice(2).map((argument) => path.resolve(argument));
const corpus = path.join(__dirname, "../../corpus");

const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 400, height: 800 };

// Starts a server on a folder with two histories, one of which has a nasty name for a key.
async function serve() {
  const histories = fs.mkdtempSync(path.join(os.tmpdir(), "isonomy-browser-"));
  fs.copyFileSync(path.join(corpus, "lost-update.hist"), path.join(histories, "lost-update.hist"));
  const line = (n) => JSON.stringify({ session: n % 3, start: n * 1e6, finish: n * 1e6 + 5e5, ops: [["w", "<img src=x onerror=alert(1)>", n]] });
  fs.writeFileSync(path.join(histories, "many.jsonl"), Array.from({ length: 300 }, (_, n) => line(n)).join("\n") + "\n");
  const child = spawn(isonomy, ["serve", "--address", "0", "--dir", histories], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", (code) => reject(new Error(`isonomy serve ended with ${code}`)));
  });
  return { child, url, histories };
}

// Opens a page, and fails if anything is asked for elsewhere, or anything is complained of.
async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const tab = await context.newPage();
  tab.complaints = [];
  tab.on("console", (message) => message.type() !== "log" && tab.complaints.push(message.text()));
  tab.on("pageerror", (error) => tab.complaints.push(String(error)));
  tab.on("request", (request) => new URL(request.url()).host !== new URL(address).host && tab.complaints.push(`asks for ${request.url()}`));
  tab.on("dialog", (dialog) => {
    tab.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await tab.goto(address);
  return tab;
}

async function close(tab) {
  assert.deepEqual(tab.complaints, []);
  await tab.context().close();
}

const count = (tab, selector) => tab.locator(selector).count();

// At both widths: nothing sticks out, everything has a name, and a picture is left.
async function looks(tab, name) {
  for (const [size, suffix] of [[NARROW, "-400"], [WIDE, ""]]) {
    await tab.setViewportSize(size);
    const [content, window] = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= window, `${name}: ${content} wide in a window of ${window}`);
    await tab.screenshot({ path: path.join(folder, `serve-${name}${suffix}.png`), fullPage: true });
  }
  const without = await tab.evaluate(() =>
    [...document.querySelectorAll("button,[role=button],a,input,select,[role=img]")]
      .filter((element) => !(element.ariaLabel || element.textContent.trim() || element.labels?.length))
      .map((element) => element.outerHTML));
  assert.deepEqual(without, []);
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
    assert.ok((await count(tab, "td.violated")) > 0);
    await looks(tab, "check");
    // An edge, by pointer.
    await tab.locator(".ring .edge-label").first().click();
    assert.ok((await count(tab, ".timeline .edge.on")) > 0);
    // The story, by keyboard.
    await tab.keyboard.press("ArrowRight");
    assert.equal(await count(tab, ".step.on"), 1);
    for (const name of ["JSON", "Page", "Drawing", "Certificate"]) {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("link", { name, exact: true }).click()]);
      assert.ok(fs.statSync(await download.path()).size > 0, name);
    }
    await tab.getByRole("button", { name: "Dark colours" }).click();
    await tab.screenshot({ path: path.join(folder, "serve-check-dark.png"), fullPage: true });
    await tab.getByRole("link", { name: "Histories" }).click();
    assert.match(await tab.locator("main").innerText(), /snapshot-isolation violated: lost-update/);
    await close(tab);
  },

  async "transactions come in slices"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByRole("link", { name: "many.jsonl" }).click();
    await tab.locator("[data-slice] table").waitFor();
    assert.match(await tab.locator("[data-slice]").innerText(), /1 to 50 of 300/);
    await tab.getByRole("button", { name: "On", exact: true }).click();
    await tab.getByText("51 to 100 of 300").waitFor();
    await tab.locator("input[name=session]").fill("2");
    await tab.locator("input[name=offset]").fill("0");
    await tab.getByRole("button", { name: "Show" }).click();
    await tab.getByText("1 to 50 of 100").waitFor();
    await tab.locator(".plot").first().waitFor();
    assert.equal(await count(tab, ".plot"), 2);
    await looks(tab, "slices");
    await close(tab);
  },

  async "a history is uploaded"(browser, { url }) {
    const tab = await open(browser, url);
    await tab.getByLabel("Look at a history from this computer").setInputFiles(path.join(corpus, "write-skew.hist"));
    await tab.getByRole("button", { name: "Upload" }).click();
    await tab.getByRole("heading", { name: "write-skew.hist" }).waitFor();
    await close(tab);
  },

  async "a run is started and stopped, and stays"(browser, { url }) {
    const tab = await open(browser, new URL("/runs/new", url).href);
    await looks(tab, "new-run");
    await tab.locator("input[name=db]").fill("mock:read-atomic");
    await tab.locator("select[name=level]").selectOption("causal");
    await tab.locator("input[name=duration]").fill("60");
    await tab.getByRole("button", { name: "Run" }).click();
    await tab.getByText("aborted").waitFor();
    await tab.screenshot({ path: path.join(folder, "serve-running.png"), fullPage: true });
    await tab.getByRole("button", { name: "Stop" }).click();
    await tab.getByRole("link", { name: /^The run/ }).click();
    await tab.locator(".plot").first().waitFor();
    await looks(tab, "run");
    await close(tab);
  },

  async "two are compared"(browser, { url }) {
    const tab = await open(browser, url);
    const button = tab.getByRole("button", { name: /^Compare/ });
    assert.ok(await button.isDisabled());
    await tab.getByLabel("Compare lost-update.hist").check();
    await tab.getByLabel("Compare many.jsonl").check();
    await button.click();
    await tab.locator(".plot").first().waitFor();
    await looks(tab, "compare");
    await close(tab);
  },
};

(async () => {
  fs.mkdirSync(folder, { recursive: true });
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  const served = await serve();
  const wanted = process.argv[4];
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (wanted && !name.includes(wanted)) continue;
    try {
      await test(browser, served);
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  served.child.removeAllListeners("exit");
  served.child.kill("SIGINT");
  fs.rmSync(served.histories, { recursive: true, force: true });
  process.exitCode = failed ? 1 : 0;
})();
