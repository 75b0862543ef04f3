// Measures how soon the first of many approvals is on the screen.
//
//   node firstcard.mjs BIN...     BIN: a folder with agent and mcp-resources
//
// A browser that runs opens the inbox of an agent with WAITING approvals (1,000), ROUNDS times
// (50), and prints the median and the 95th percentile of the milliseconds from the navigation to
// the frame with the first approval: with what it kept of an earlier visit, and in a profile
// without anything. Several folders are measured in turn, to compare them on a machine with
// other work.
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
const observe = () => new MutationObserver((_, o) => {
  if (!document.querySelector(".rows li")) return;
  o.disconnect();
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel(); // a message is received after the frame
    port1.onmessage = () => { globalThis.firstCard = performance.now(); };
    port2.postMessage(0);
  });
}).observe(document, { childList: true, subtree: true });

const profile = async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addInitScript(observe);
  return context;
};

async function opened(context, agent) {
  const page = await context.newPage();
  await page.goto(agent.url + "/#/inbox", { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.firstCard);
  const ms = await page.evaluate(() => globalThis.firstCard);
  await page.locator(".inbox h2 .count", { hasText: new RegExp(`^${total}`) }).waitFor(); // all of them, before the next
  await page.close();
  return ms;
}

const at = (list, q) => Math.round(list.toSorted((a, b) => a - b)[Math.ceil(q * list.length) - 1]);

const bins = process.argv.slice(2), browser = await launch();
const agents = [];
for (const [n, bin] of bins.entries()) agents.push(await fill(bin, n));
const kept = [];
for (const agent of agents) {
  kept.push(await profile(browser));
  for (let n = 0; n < 3; n++) await opened(kept.at(-1), agent); // fills the caches
}
const results = agents.map(() => ({ again: [], first: [] }));
for (let n = 0; n < rounds; n++) for (const [k, agent] of agents.entries()) {
  results[k].again.push(await opened(kept[k], agent));
  const fresh = await profile(browser);
  results[k].first.push(await opened(fresh, agent));
  await fresh.close();
}
const load = loadavg()[0].toFixed(1);
for (const [k, { again, first }] of results.entries()) {
  console.log(`${bins.length > 1 ? bins[k] + ": " : ""}the first of ${total} approvals is on the screen after (goal: 100 ms for 95 of 100; load average ${load})`);
  console.log(`  opened again   ${at(again, .5)} ms, 95 of 100 within ${at(again, .95)} ms`);
  console.log(`  first visit    ${at(first, .5)} ms, 95 of 100 within ${at(first, .95)} ms`);
}
await browser.close();
await Promise.all(agents.map((a) => a.end("SIGKILL")));
rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
process.exit(0);
