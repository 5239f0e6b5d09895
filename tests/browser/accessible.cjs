// What every page must have for those who do not see it, or do not use a pointer.
"use strict";
const assert = require("node:assert/strict");

// Fails with the elements that have no name, headings that leave a level out, and headers of tables that do not say of what.
async function accessible(tab, name) {
  const flaws = await tab.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility());
    const flaws = [];
    const blame = (what, elements) => elements.forEach((element) => flaws.push(`${what}: ${element.outerHTML.slice(0, 200)}`));
    const labelled = (element) =>
      element.ariaLabel || element.textContent.trim() || element.labels?.length || element.getAttribute("aria-labelledby");
    blame("no name", all("button,[role=button],a,input:not([type=hidden]),select,progress,[role=img],table,nav,[tabindex='0']").filter((element) => !labelled(element)));
    blame("no scope", all("th:not([scope])"));
    blame("no text", all("th[scope]").filter((element) => !element.textContent.trim()));
    // A box that has something to go to in it scrolls when one goes there.
    const reached = (box) => box.tabIndex >= 0 || box.querySelector("a,button,[tabindex='0']");
    blame("scrolls out of reach", all(".table,.scroll,pre").filter((box) => box.scrollWidth > box.clientWidth && !reached(box)));
    const levels = all("h1,h2,h3,h4").map((heading) => Number(heading.tagName[1]));
    if (levels.filter((level) => level === 1).length !== 1) flaws.push(`headings of the first level: ${levels}`);
    levels.forEach((level, index) => level > (levels[index - 1] ?? 0) + 1 && flaws.push(`a level of headings is left out: ${levels}`));
    const ids = all("[id]").map((element) => element.id);
    ids.forEach((id, index) => ids.indexOf(id) !== index && flaws.push(`the id ${id} is there twice`));
    for (const element of all("[aria-labelledby]")) {
      if (!document.getElementById(element.getAttribute("aria-labelledby"))) flaws.push(`nothing is called ${element.getAttribute("aria-labelledby")}`);
    }
    if (!document.documentElement.lang || !document.title) flaws.push("no language or no title");
    return flaws;
  });
  assert.deepEqual(flaws, [], name);
}

module.exports = { accessible };
