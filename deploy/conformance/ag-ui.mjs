// Drives an agent with an official AG-UI client, as a front end does.
//
//	node ag-ui.mjs 1.0|0.0.59 URL URL        where URL is that of the API
//
// The agent has the tools note_list and note_add, of which note_add wants an
// approval, and a model that does what a message says: "call TOOL ARGS", "say
// TEXT". A second agent, whose URL is the next argument, runs two branches that
// each ask for an approval.
import assert from "node:assert/strict";
import { agUI } from "./ag-ui-clients.mjs";
import { check, finish } from "./check.mjs";

const [version, api, pair] = process.argv.slice(2);
assert.ok(api && pair, "usage: ag-ui.mjs VERSION URL URL");
const { AgentCapabilitiesSchema, EventSchemas, HttpAgent, buildResumeArray } = await agUI(version);
const older = version !== "1.0";

const user = (content) => ({ id: crypto.randomUUID(), role: "user", content });

function agent(text, base = api, threadId = crypto.randomUUID()) {
  const a = new HttpAgent({ url: `${base}/ag-ui`, threadId });
  if (text) a.addMessage(user(text));
  return a;
}

// run runs an agent once. The client resolves also when a run fails or breaks off,
// and only warns of what it does not know: here both are failures.
async function run(a, params = {}) {
  const out = { events: [], warnings: [] };
  const warn = console.warn;
  console.warn = (...words) => out.warnings.push(words.join(" "));
  try {
    Object.assign(out, await a.runAgent(params, {
      onEvent: ({ event }) => { out.events.push(EventSchemas.parse(event)); },
      onRunFinishedEvent: (finished) => { out.finished = finished; },
      onRunErrorEvent: ({ event }) => { out.error = event; },
    }));
  } finally {
    console.warn = warn;
  }
  assert.deepEqual(out.warnings, [], "the client warns");
  assert.ok(out.finished || out.error, "the run broke off");
  return out;
}

// toMake is the calls that the front end has to make. An older client learns of them only
// by the messages: it makes every one that has no result.
function toMake(a, finished, tools) {
  if (!older) return finished.pendingToolCallIds;
  const answered = new Set(a.messages.filter((m) => m.role === "tool").map((m) => m.toolCallId));
  return a.messages.flatMap((m) => m.toolCalls ?? [])
    .filter((c) => tools.some((t) => t.name === c.function.name) && !answered.has(c.id)).map((c) => c.id);
}

// unchecked posts a resume that the client itself would not send.
function unchecked(a, resume) {
  a.pendingInterrupts = [];
  return run(a, { resume });
}

const yes = (interrupts, payload = { approved: true }) =>
  buildResumeArray(interrupts, Object.fromEntries(interrupts.map((i) => [i.id, { status: "resolved", payload }])));

const texts = (a) => a.messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content);
// A call that was never made has a result that says so, for front ends that wait.
const results = (a) => a.messages.filter((m) => m.role === "tool" && !m.content.startsWith("The call has no result")).map((m) => m.content);

// shown is the conversation as the API shows it: users', assistants' and tools' words.
async function shown(a, base = api) {
  const { conversation } = await (await fetch(`${base}/conversations/${a.threadId}`)).json();
  return conversation;
}

// notice tells what the API shows people and the model does not see.
const notice = (text) => /^(This action requires approval:|Waiting for the client|\[(APPROVAL|CLIENT TOOL)\]:)/.test(text);

// same wants the client to have what the API shows.
async function same(a, base = api) {
  const c = await shown(a, base);
  const words = (role) => c.messages.filter((m) => m.role === role && m.content && !notice(m.content)).map((m) => m.content);
  assert.deepEqual(a.messages.filter((m) => m.role === "user").map((m) => m.content), words("user"));
  assert.deepEqual(texts(a), words("assistant"));
  assert.deepEqual(results(a), c.messages.filter((m) => m.role === "tool").map((m) => m.tool_call.result));
}

await check("capabilities", async () => {
  const res = await fetch(`${api}/ag-ui`);
  const c = AgentCapabilitiesSchema.parse(await res.json());
  assert.ok(c.transport.streaming && c.tools.clientProvided && c.humanInTheLoop.interrupts);
});

await check("a chat over several runs", async () => {
  const a = agent("say hello");
  const first = await run(a);
  assert.equal(first.finished.outcome, "success");
  assert.deepEqual(texts(a), ["hello"]);
  assert.ok(first.events.some((e) => e.type === "TEXT_MESSAGE_CONTENT"), "nothing was streamed");
  a.addMessage(user("say again"));
  await run(a);
  assert.deepEqual(texts(a), ["hello", "again"]);
  await same(a);
});

await check("the version that the client names", async () => {
  const { events } = await run(agent("say hello"));
  const started = events.find((e) => e.type === "RUN_STARTED");
  assert.equal(started.protocolVersion, older ? undefined : "1.0");
});

await check("the state of the front end", async () => {
  const a = agent("say hello");
  a.state = { draft: { title: "x" }, status: "mine" };
  await run(a);
  const { "agent-stop-and-go": ours, ...own } = a.state;
  assert.deepEqual(own, { draft: { title: "x" }, status: "mine" });
  assert.equal(ours.status, "active");
  a.state.draft.title = "y";
  a.addMessage(user("say again"));
  await run(a);
  assert.equal(a.state.draft.title, "y");
});

await check("a tool call", async () => {
  const a = agent("call note_list");
  const { events } = await run(a);
  for (const type of ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]) {
    assert.equal(events.filter((e) => e.type === type).length, 1, type);
  }
  await same(a);
});

await check("a thread that is no UUID, and a message that is repeated", async () => {
  const threadId = `thread of ${crypto.randomUUID()}`;
  const a = agent("say one", api, threadId);
  await run(a);
  const b = agent(null, api, threadId);
  b.setMessages(a.messages);
  await run(b);
  assert.deepEqual(texts(b), ["one"]);
});

await check("an approval", async () => {
  const a = agent('call note_add {"name":"x"}');
  const { finished } = await run(a);
  assert.equal(finished.outcome, "interrupt");
  const [interrupt] = a.pendingInterrupts;
  assert.equal(interrupt.reason, "tool_call");
  assert.ok(a.messages.some((m) => m.toolCalls?.some((c) => c.id === interrupt.toolCallId)), "the call is not in the messages");
  assert.equal((await run(a, { resume: yes(a.pendingInterrupts) })).finished.outcome, "success");
  assert.deepEqual(results(a), ["added x"]);
  assert.deepEqual(a.pendingInterrupts, []);
  await same(a);
});

await check("a reload while an approval waits", async () => {
  const a = agent('call note_add {"name":"y"}');
  await run(a);
  const events = await stream(a.threadId, 1);
  const { interrupts } = events.at(-1).outcome;
  assert.equal(interrupts[0].id, a.pendingInterrupts[0].id);
  const b = agent(null, api, a.threadId);
  b.setMessages(events.find((e) => e.type === "MESSAGES_SNAPSHOT").messages);
  b.pendingInterrupts = interrupts;
  assert.equal((await run(b, { resume: yes(interrupts) })).finished.outcome, "success");
  await same(b);
});

await check("a rejection with a reason", async () => {
  const a = agent('call note_add {"name":"z"}');
  await run(a);
  await run(a, { resume: yes(a.pendingInterrupts, { approved: false, reason: "not today" }) });
  assert.deepEqual(results(a), []);
  const audit = (await shown(a)).messages.find((m) => m.approval).approval;
  assert.equal(audit.decision, "rejected");
  assert.equal(audit.reason, "not today");
  await same(a);
});

await check("an approval that the front end writes down as the result", async () => {
  const a = agent('call note_add {"name":"u"}');
  await run(a);
  const [{ toolCallId }] = a.pendingInterrupts;
  a.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content: '{"approved":true}' });
  await run(a, { resume: yes(a.pendingInterrupts) });
  assert.deepEqual(results(a), ["added u"]);
  await same(a);
});

await check("a turn that is cancelled", async () => {
  const a = agent('call note_add {"name":"t"}');
  await run(a);
  const res = await fetch(`${api}/conversations/${a.threadId}/cancel`, { method: "POST" });
  assert.ok(res.ok, `${res.status}`);
  const { finished } = await unchecked(a);
  assert.equal(finished.outcome, older ? "success" : "cancelled"); // for want of another
  assert.deepEqual(a.pendingInterrupts, []);
  assert.match(texts(a).at(-1), /^The turn was cancelled/);
});

await check("an approval that is abandoned", async () => {
  const a = agent('call note_add {"name":"w"}');
  await run(a);
  await run(a, { resume: [{ interruptId: a.pendingInterrupts[0].id, status: "cancelled" }] });
  assert.equal((await shown(a)).messages.find((m) => m.approval).approval.decision, "rejected");
});

await check("entries that the protocol does not allow", async () => {
  const a = agent('call note_add {"name":"v"}');
  await run(a);
  const [open] = a.pendingInterrupts;
  const entry = (payload, interruptId = open.id) => ({ interruptId, status: "resolved", payload });
  for (const [code, resume] of [
    ["interrupt_unknown", [entry({ approved: true }, crypto.randomUUID())]],
    ["interrupt_duplicate", [entry({ approved: true }), entry({ approved: true })]],
    ["resume_invalid", [entry({ approved: "maybe" })]],
    ["resume_invalid", [entry({ approved: true, args: { name: "other" } })]],
  ]) {
    assert.equal((await unchecked(a, resume)).error?.code, code);
  }
  a.pendingInterrupts = [];
  a.addMessage(user("say too early"));
  assert.equal((await run(a)).error?.code, "interrupt_unresolved");
  a.setMessages(a.messages.slice(0, -1));
  assert.equal((await shown(a)).pending_approval.uuid, open.id, "something was decided");
  const good = [entry({ approved: true })];
  assert.equal((await unchecked(a, good)).finished.outcome, "success");
  assert.ok((await unchecked(a, good)).finished, "the same answer again is no error");
  assert.equal((await unchecked(a, [entry({ approved: false })])).error?.code, "interrupt_already_resolved");
  assert.deepEqual(results(a), ["added v"]);
});

await check("two approvals at once", async () => {
  const a = agent("go", pair);
  assert.equal((await run(a)).finished.outcome, "interrupt");
  while (a.pendingInterrupts.length === 1) { // the second branch was not there yet
    const events = await stream(a.threadId, 1, pair);
    a.pendingInterrupts = events.at(-1).outcome.interrupts;
  }
  assert.equal(a.pendingInterrupts.length, 2);
  const [one, two] = a.pendingInterrupts;
  assert.equal((await unchecked(a, yes([one]))).error?.code, "interrupt_unresolved");
  assert.equal((await unchecked(a, yes([one, two]))).finished.outcome, "success");
  assert.equal(results(a).length, 2);
});

await check("a tool of the client", async () => {
  const tools = [{ name: "pick_color", description: "Asks the person", parameters: { type: "object", properties: { of: { type: "string" } } } }];
  const a = agent('call pick_color {"of":"sky"}');
  const first = await run(a, { tools });
  assert.equal(first.finished.outcome, "success");
  const [id] = toMake(a, first.finished, tools);
  assert.ok(id, "no call is pending");
  a.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: id, content: "blue" });
  const second = await run(a, { tools });
  assert.deepEqual(toMake(a, second.finished, tools), []);
  assert.deepEqual(texts(a), ["The tool said: blue"]);
  await same(a);
});

await check("a destructive tool of the client", async () => {
  const tools = [{ name: "wipe", description: "Wipes the screen", parameters: { type: "object", properties: {} }, metadata: { destructive: true } }];
  const a = agent("call wipe");
  const asked = (await run(a, { tools })).finished;
  assert.equal(asked.outcome, "interrupt");
  if (older) assert.deepEqual(toMake(a, asked, tools), [], "the client would make the call before anybody approves");
  const { finished } = await run(a, { tools, resume: yes(a.pendingInterrupts) });
  const [id] = toMake(a, finished, tools);
  a.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: id, content: "wiped" });
  await run(a, { tools });
  assert.deepEqual(texts(a), ["The tool said: wiped"]);
});

if (!older) await check("a turn that is posted and streamed", async () => {
  const events = await read(await fetch(`${api}/conversations`, {
    method: "POST", headers: { "content-type": "application/json", accept: "text/event-stream" }, body: JSON.stringify({ message: "say streamed" }),
  }));
  assert.equal(events.at(-1).type, "RUN_FINISHED");
  assert.equal(events.filter((e) => e.type === "TEXT_MESSAGE_CONTENT").map((e) => e.delta).join(""), "say streamedstreamed");
});

// read reads events until the body ends, or enough runs have finished.
async function read(res, runs = Infinity) {
  if (!res.ok) assert.fail(`${res.status} ${await res.text()}`);
  const events = [];
  let text = "", finished = 0;
  for await (const piece of res.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
      const data = text.slice(0, at).split("\n").find((line) => line.startsWith("data:"));
      if (!data) continue;
      events.push(EventSchemas.parse(JSON.parse(data.slice(5))));
      if (events.at(-1).type === "RUN_FINISHED" && ++finished >= runs) return events;
    }
  }
  return events;
}

async function stream(id, runs, base = api) {
  const stop = new AbortController();
  try {
    return await read(await fetch(`${base}/conversations/${id}/events?protocolVersion=${older ? "0.0" : "1.0"}`, { signal: stop.signal }), runs);
  } finally {
    stop.abort();
  }
}

finish();
