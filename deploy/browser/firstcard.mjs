// Measures how soon the first of many approvals is on the screen.
//
//   node firstcard.mjs BIN...     BIN: a folder with agent and mcp-resources
//
// A browser that runs shows the inbox of an agent with WAITING approvals (1,000), ROUNDS times
// (50), and prints the median and the 95th percentile of the milliseconds to the frame with the
// first approval: from the click on "Inbox" in the open page; and from the navigation of a new tab,
// with what the browser kept of an earlier visit, and in a profile without anything. A tab starts
// a process, which takes most of the time: the same is measured of a page that is nothing but one
// row. Several folders are measured in turn, to compare them on a machine with other work.
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, pause } from "./agent.mjs";
import { launch } from "./agents.mjs";

const { WAITING = 1000, ROUNDS = 50 } = process.env;
const total = Number(WAITING), rounds = Number(ROUNDS), together = 20;
const dir = mkdtempSync(join(tmpdir(), "firstcard-"));

// fill starts an agent whose approvals wait.
async function fill(bin, n) {
  const home = join(dir, String(n));
  const agent = await Agent.make(bin, home, `name: helper\nllm: {model: "demo:rules"}\nmcp_servers: [{name: resources, command: "${bin}/mcp-resources", args: [--stdio, --db, "${home}/r.db"]}]\n`);
  process.on("exit", () => agent.process?.kill("SIGKILL"));
  await agent.start();
  for (let k = 0; k < total; k += together) {
    await Promise.all(Array.from({ length: Math.min(together, total - k) }, (_, j) =>
      agent.ask("/conversations", { message: `add a resource named thing${k + j} with value ${j}` }, { Prefer: "respond-async" })));
  }
  while (await waiting(agent) < total) await pause(500);
  await pause(3000); // the list lags behind, and the machine comes to rest
  return agent;
}

async function waiting(agent) {
  let found = 0;
  for (let cursor = ""; ;) {
    const page = await agent.ask(`/approvals?limit=200${cursor && "&cursor=" + encodeURIComponent(cursor)}`);
    found += page.approvals.length;
    cursor = page.next_cursor ?? "";
    if (!cursor) return found;
  }
}

// observe notes when the frame with the first approval has been handed to the screen.
const observe = () => {
  globalThis.watch = () => new MutationObserver((_, o) => {
    if (!document.querySelector(".rows li")) return;
    o.disconnect();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel(); // a message is received after the frame
      port1.onmessage = () => { globalThis.firstCard = performance.now(); };
      port2.postMessage(0);
    });
  }).observe(document, { childList: true, subtree: true });
  watch();
};

const profile = async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addInitScript(observe);
  return context;
};

const shown = async (page) => {
  await page.waitForFunction(() => globalThis.firstCard);
  return page.evaluate(() => globalThis.firstCard);
};

const all = (page) => page.locator(".inbox h2 .count", { hasText: new RegExp(`^${total}`) }).waitFor(); // before the next

// opened measures a new tab.
async function opened(context, url, complete) {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "commit" });
  const ms = await shown(page);
  if (complete) await all(page);
  await page.close();
  return ms;
}

// clicked measures the way from another view.
async function clicked(context, agent) {
  const page = await context.newPage();
  await page.goto(agent.url + "/#/inbox");
  await all(page);
  await page.locator("nav .new").click();
  await page.locator("#message").waitFor();
  await page.evaluate(() => {
    globalThis.firstCard = 0;
    watch();
    addEventListener("click", () => { globalThis.clickedAt = performance.now(); }, { capture: true, once: true });
  });
  await page.locator("nav .inboxes").click();
  const ms = await shown(page) - await page.evaluate(() => globalThis.clickedAt);
  await page.close();
  return ms;
}

const at = (list, q) => Math.round(list.toSorted((a, b) => a - b)[Math.ceil(q * list.length) - 1]);

const bins = process.argv.slice(2), browser = await launch();
const agents = [];
for (const [n, bin] of bins.entries()) agents.push(await fill(bin, n));
const empty = createServer((_, reply) => {
  reply.setHeader("Content-Type", "text/html");
  reply.end('<!doctype html><title>one row</title><ul class="rows"><li>one row</ul>');
}).listen(0, "127.0.0.1");
await new Promise((done) => empty.once("listening", done));
const emptyURL = `http://127.0.0.1:${empty.address().port}/`;
const kept = [];
for (const agent of agents) {
  kept.push(await profile(browser));
  for (let n = 0; n < 3; n++) await opened(kept.at(-1), agent.url + "/#/inbox", true); // fills the caches
}
const results = agents.map(() => ({ click: [], again: [], first: [] })), floor = [];
for (let n = 0; n < rounds; n++) {
  floor.push(await opened(kept[0], emptyURL));
  for (const [k, agent] of agents.entries()) {
    results[k].click.push(await clicked(kept[k], agent));
    results[k].again.push(await opened(kept[k], agent.url + "/#/inbox", true));
    const fresh = await profile(browser);
    results[k].first.push(await opened(fresh, agent.url + "/#/inbox", true));
    await fresh.close();
  }
}
const line = (what, list) => console.log(`  ${what.padEnd(38)}${at(list, .5)} ms, 95 of 100 within ${at(list, .95)} ms`);
for (const [k, { click, again, first }] of results.entries()) {
  console.log(`${bins.length > 1 ? bins[k] + ": " : ""}the first of ${total} approvals is on the screen after (load average ${loadavg()[0].toFixed(1)})`);
  line("a click on Inbox (goal: 100 ms)", click);
  line("opening a tab", again);
  line("opening a tab for the first time", first);
  line("opening a tab with nothing but a row", floor);
}
await browser.close();
await Promise.all(agents.map((a) => a.end("SIGKILL")));
rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
process.exit(0);
