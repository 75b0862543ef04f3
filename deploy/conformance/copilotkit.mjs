// Drives an agent with CopilotKit: its front end, through its runtime.
//
//	node copilotkit.mjs URL        where URL is that of the API
//
// The runtime listens on this machine and knows the agent by an HttpAgent, as its users
// set it up. The agent is one as ag-ui.mjs has it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { check, finish } from "./check.mjs";

process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
const { CopilotRuntime } = await import("@copilotkit/runtime/v2");
const { createCopilotNodeListener } = await import("@copilotkit/runtime/v2/node");
const { CopilotKitCore, ɵInterruptState } = await import("@copilotkit/core");
const { HttpAgent } = createRequire(fileURLToPath(import.meta.resolve("@copilotkit/runtime")))("@ag-ui/client");

const [api] = process.argv.slice(2);
assert.ok(api, "usage: copilotkit.mjs URL");

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: `${api}/ag-ui` }) } });
const basePath = "/api/copilotkit";
const servers = [];

// serve is the URL of the runtime, which takes requests in one of its two ways.
async function serve(mode) {
  const server = createServer(createCopilotNodeListener({ runtime, basePath, mode }));
  servers.push(server);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${server.address().port}${basePath}`;
}

const runtimeUrls = { rest: await serve("multi-route"), single: await serve("single-route") };

// frontEnd is a page: what it shows is agent.messages and agent.state.
function frontEnd(transport, ...tools) {
  const core = new CopilotKitCore({ runtimeUrl: runtimeUrls[transport], runtimeTransport: transport, tools });
  const page = { core, errors: [], made: [], interrupts: [] };
  core.subscribe({ onError: ({ error, code }) => page.errors.push(`${code}: ${error.message}`) });
  page.agent = core.registerProxiedAgent({ agentId: "default" }).agent;
  page.agent.threadId = crypto.randomUUID();
  page.agent.subscribe({
    onRunStartedEvent: () => { page.interrupts = []; page.finished = false; },
    onRunFinishedEvent: ({ outcome, interrupts }) => { page.finished = true; if (outcome === "interrupt") page.interrupts = interrupts; },
  });
  return page;
}

// say runs the agent with what a person says. The front end makes the calls of its tools
// and runs the agent again by itself.
async function say(page, content) {
  page.agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  await run(page);
}

async function run(page, params = {}) {
  await page.core.runAgent({ agent: page.agent, ...params });
  assert.deepEqual(page.errors, []);
  assert.ok(page.finished, "the run broke off");
}

// decide answers all interrupts as the hook of CopilotKit does: what a person says becomes
// the result of the call as well.
async function decide(page, payload) {
  const state = new ɵInterruptState();
  state.setStandard(page.interrupts);
  const decisions = page.interrupts.map((i) => state.resolve(payload, i.id));
  const { resume, toolResults } = decisions.at(-1);
  for (const { toolCallId, content } of toolResults) {
    page.agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content });
  }
  await run(page, { resume });
}

// tool is a tool of the front end, which notes what it was called with.
const tool = (made, name, result) => ({
  name, description: "A tool of the page", parameters: z.object({ of: z.string() }),
  handler: async (args) => { made.push(args); return result; },
});

const texts = (page) => page.agent.messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content);
const results = (page) => page.agent.messages.filter((m) => m.role === "tool").map((m) => m.content);

for (const transport of ["rest", "single"]) {
  await check(`${transport}: a chat over several runs`, async () => {
    const page = frontEnd(transport);
    await say(page, "say hello");
    await say(page, "say again");
    assert.deepEqual(texts(page), ["hello", "again"]);
  });

  await check(`${transport}: a tool call`, async () => {
    const page = frontEnd(transport);
    await say(page, "call note_list");
    assert.equal(results(page).length, 1);
  });

  await check(`${transport}: a tool of the front end`, async () => {
    const made = [];
    const page = frontEnd(transport, tool(made, "pick_color", "blue"));
    await say(page, 'call pick_color {"of":"sky"}');
    assert.deepEqual(made, [{ of: "sky" }]);
    assert.deepEqual(texts(page), ["The tool said: blue"]);
    assert.deepEqual(results(page), ["blue"]);
  });

  await check(`${transport}: an approval`, async () => {
    const page = frontEnd(transport);
    await say(page, 'call note_add {"name":"x"}');
    assert.deepEqual(page.interrupts.map((i) => i.reason), ["tool_call"]);
    assert.deepEqual(results(page), []);
    await decide(page, { approved: true });
    assert.deepEqual(page.interrupts, []);
    assert.deepEqual(results(page), ["added x"]);
  });

  await check(`${transport}: a rejection`, async () => {
    const page = frontEnd(transport);
    await say(page, 'call note_add {"name":"y"}');
    await decide(page, { approved: false, reason: "not today" });
    const { conversation } = await (await fetch(`${api}/conversations/${page.agent.threadId}`)).json();
    assert.equal(conversation.messages.find((m) => m.approval).approval.decision, "rejected");
    assert.ok(results(page).every((r) => r.startsWith("The call has no result")), `${results(page)}`);
  });

  await check(`${transport}: the state that the page shares`, async () => {
    const page = frontEnd(transport);
    page.agent.setState({ draft: { title: "x" } });
    await say(page, "say hello");
    const { "agent-stop-and-go": ours, ...own } = page.agent.state;
    assert.deepEqual(own, { draft: { title: "x" } });
    assert.equal(ours.status, "active");
  });

  await check(`${transport}: a page that is loaded again while an approval waits`, async () => {
    const before = frontEnd(transport);
    await say(before, 'call note_add {"name":"z"}');
    const page = frontEnd(transport);
    page.agent.threadId = before.agent.threadId;
    await page.core.connectAgent({ agent: page.agent });
    assert.deepEqual(page.interrupts.map((i) => i.id), before.interrupts.map((i) => i.id));
    await decide(page, { approved: true });
    assert.deepEqual(results(page), ["added z"]);
  });
}

for (const server of servers) server.closeAllConnections();
finish();
