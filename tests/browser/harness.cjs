// What all tests of pages share: the arguments, tabs that note every complaint, and running tests one after the other.
//
//   node tests/browser/NAME.cjs ISONOMY FOLDER [PART OF A TEST'S NAME]
//
// Screenshots and pages are left in FOLDER. Needs playwright-core and Chromium; `scripts/browser` finds or installs them.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [isonomy, folder] = process.argv.slice(2, 4).map((argument) => path.resolve(argument));
const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 400, height: 800 };

// A page in a file asks for nothing else, one of a server for nothing elsewhere.
function isOwn(address, asked) {
  return address.startsWith("file:") ? asked === address : new URL(asked).host === new URL(address).host;
}

// Opens a page, and notes what it asks for beside itself, and what it complains of; `close` fails if there is anything.
async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const tab = await context.newPage();
  tab.complaints = [];
  tab.on("console", (message) => message.type() !== "log" && tab.complaints.push(message.text()));
  tab.on("pageerror", (error) => tab.complaints.push(String(error)));
  tab.on("request", (request) => isOwn(address, request.url()) || tab.complaints.push(`asks for ${request.url()}`));
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

// The page itself must never scroll sideways; drawings may.
async function fits(tab) {
  const [content, window] = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} wide in a window of ${window}`);
}

function launch() {
  fs.mkdirSync(folder, { recursive: true });
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

// Runs tests, each with a browser and whatever else they share.
async function run(tests, shared) {
  const browser = await launch();
  const wanted = process.argv[4];
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (wanted && !name.includes(wanted)) continue;
    try {
      await test(browser, shared);
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  process.exitCode = failed ? 1 : 0;
}

module.exports = { isonomy, folder, WIDE, NARROW, open, close, count, fits, launch, run };
