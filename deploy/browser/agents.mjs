// The agents that the page is tested with, and the browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser, flags } from "../conformance/chromium.mjs";
import { Agent } from "./agent.mjs";
import { attack } from "./attack.mjs";
import { serveModel } from "./model.mjs";
import { serveProxy } from "./proxy.mjs";

const here = import.meta.dirname;

// startAll starts an agent on the demo model, one on a model of this test with tools that
// attack, one whose pipeline has two branches that ask at the same time and a loop, and one behind a proxy with a login.
export async function startAll(bin) {
  const dir = mkdtempSync(join(tmpdir(), "page-"));
  const model = await serveModel();
  const resources = (of) => `mcp_servers: [{name: resources, command: "${bin}/mcp-resources", args: [--stdio, --db, "${dir}/${of}.db"]}]\n`;
  const [plain, scripted, pair, closed] = await Promise.all([
    Agent.make(bin, join(dir, "plain"), `name: helper\ndescription: Keeps a list and asks before it changes it.\nllm: {model: "demo:rules"}\nmodels: {another: {provider: openai, model: another, base_url: "http://127.0.0.1:9/", selectable: true}}\napproval: {timeout: 72h}\n${resources("plain")}`),
    Agent.make(bin, join(dir, "scripted"), `name: tester\ndescription: ${JSON.stringify(attack("description"))}\nprompt: You test a page.\nllm: {model: "openai:test-model"}\n` +
      `mcp_servers: [{name: test, command: "${process.execPath}", args: ["${here}/tools.mjs", "${dir}/lost"], elicitation: true}]\n` +
      `approval:\n  rules:\n    - {name: payments, when: tool == "pay", then: {ask: {edit: [amount, big, to.city, note, urgent, currency, tags, due, more, extra]}}}\n` +
      `    - {name: ceiling, when: 'tool == "pay" && args.amount > 5000', then: {deny: Nobody pays more than 5000 at once.}}\n`,
    { OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url }),
    Agent.make(bin, join(dir, "pair"), `name: pair\nllm: {model: "demo:rules"}\n${resources("pair")}agent:\n  name: pipeline\n  type: sequential\n  agents:\n` +
      "    - name: both\n      type: parallel\n      approval: required\n      agents:\n" +
      ["left", "right"].map((n) => `        - {name: ${n}, prompt: "demo: add a resource named ${n} with value 1"}\n`).join("") +
      `    - {name: polish, type: loop, max_iterations: 2, agents: [{name: writer, prompt: "demo: list the resources"}]}\n`),
    Agent.make(bin, join(dir, "closed"), `name: closed\nllm: {model: "demo:rules"}\nauth: [{type: proxy, from: [127.0.0.1], header: X-Subject}]\n${resources("closed")}`),
  ]);
  const agents = [plain, scripted, pair, closed];
  process.on("exit", () => agents.forEach((a) => a.process?.kill("SIGKILL")));
  await Promise.all(agents.map((a) => a.start()));
  const proxy = await serveProxy(closed);
  return {
    plain, scripted, pair, proxy, model,
    end: async () => {
      await Promise.all(agents.map((a) => a.end("SIGKILL")));
      model.close();
      proxy.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export const launch = () => chromium.launch({ executablePath: findBrowser(), headless: true, args: flags });

// useSources has the pages of a context run the modules of $PAGE_FILES, if that is set, instead
// of the bundle in the agents.
export async function useSources(context) {
  const files = process.env.PAGE_FILES;
  if (!files) return;
  await context.route(/\/page\//, (r) => {
    const { pathname } = new URL(r.request().url());
    if (pathname.endsWith("/bundle.js")) return r.fulfill({ contentType: "text/javascript", body: 'import "./main.js";' });
    return r.fulfill({ path: files + pathname.slice(pathname.indexOf("/page/") + 5) });
  });
}
