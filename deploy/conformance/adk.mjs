// Talks to an agent with the remote agent of Google's Agent Development Kit (ADK) for
// JavaScript, run by ADK's own runner.
//
//	node adk.mjs URL        where URL is that of the API
//
// The agent has the tools note_list and note_add, of which note_add wants an
// approval, and a model that does what a message says: "call TOOL ARGS", "say TEXT".
import assert from "node:assert/strict";
import {
  getPendingUserInputRequests, InMemoryRunner, LogLevel, RemoteA2AAgent, setLogLevel,
} from "@google/adk";
import { check, finish } from "./check.mjs";

const [api] = process.argv.slice(2);
assert.ok(api, "usage: adk.mjs URL");
setLogLevel(LogLevel.ERROR);

// Chat is a session with the agent, as an application made with ADK has one.
class Chat {
  static async open(config = {}) {
    const chat = new Chat();
    const agent = new RemoteA2AAgent({ name: "remote", agentCard: api, ...config });
    chat.runner = new InMemoryRunner({ agent, appName: "conformance" });
    chat.session = await chat.runner.sessionService.createSession({ appName: "conformance", userId: "ann" });
    return chat;
  }

  // send returns the events of the agent. Parts of the same event are not told twice.
  async send(...parts) {
    const events = [];
    const run = this.runner.runAsync({ userId: "ann", sessionId: this.session.id, newMessage: { role: "user", parts } });
    for await (const e of run) {
      assert.equal(e.errorMessage, undefined);
      events.push(e);
    }
    return events;
  }

  say(text) { return this.send({ text }); }

  // asked is the one thing that waits, as ADK knows it from the events.
  async asked() {
    const session = await this.runner.sessionService.getSession({ appName: "conformance", userId: "ann", sessionId: this.session.id });
    const pending = getPendingUserInputRequests(session.events);
    assert.equal(pending.length, 1, JSON.stringify(pending));
    return pending[0];
  }

  respond(request, response) {
    return this.send({ functionResponse: { id: request.interruptId, name: request.functionCallName, response } });
  }
}

const textOf = (events) => events.flatMap((e) => e.content?.parts ?? []).map((p) => p.text ?? "").join("\n");
const calls = (events) => events.flatMap((e) => e.content?.parts ?? []).flatMap((p) => p.functionCall ?? []);

let count = 0;
// ask makes the agent wait for an approval.
async function ask(chat) {
  const name = `apple-${process.pid}-${++count}`;
  const events = await chat.say(`call note_add ${JSON.stringify({ name })}`);
  const request = await chat.asked();
  assert.ok(events.some((e) => e.longRunningToolIds?.includes(request.interruptId)), "the call is not long-running");
  return { name, request, events };
}

for (const [label, config] of Object.entries({
  stream: {},
  "one answer": { agentCard: await card({ streaming: false }) },
})) {
  await check(`${label}: two messages of one session`, async () => {
    const chat = await Chat.open(config);
    assert.match(textOf(await chat.say("say hello")), /hello/);
    assert.match(textOf(await chat.say("say again")), /again/);
  });
  await check(`${label}: what waits is a confirmation`, async () => {
    const { request, events, name } = await ask(await Chat.open(config));
    assert.equal(request.kind, "confirmation");
    assert.equal(request.toolName, "note_add");
    assert.match(request.message, new RegExp(name));
    assert.deepEqual(calls(events)[0].args.originalFunctionCall.args, { name });
    assert.match(textOf(events), /Approval required/);
  });
  for (const [said, confirmed] of [["approved", true], ["rejected", false]]) {
    await check(`${label}: an approval is ${said}`, async () => {
      const chat = await Chat.open(config);
      const { request, name } = await ask(chat);
      const text = textOf(await chat.respond(request, { confirmed }));
      assert.match(text, confirmed ? new RegExp(`added ${name}`) : /cancelled by user/i);
      assert.match(textOf(await chat.say("say go on")), /go on/); // the context is free again
    });
  }
  await check(`${label}: an unclear response decides nothing`, async () => {
    const chat = await Chat.open(config);
    const { request, name } = await ask(chat);
    assert.match(textOf(await chat.respond(request, { status: "pending" })), /neither yes nor no/);
    assert.match(textOf(await chat.respond(request, { confirmed: true })), new RegExp(`added ${name}`));
  });
  await check(`${label}: words are told which task waits`, async () => {
    const chat = await Chat.open(config);
    const { request, name } = await ask(chat);
    assert.match(textOf(await chat.say("approved")), /Task .* of this context waits/);
    assert.match(textOf(await chat.respond(request, { confirmed: true })), new RegExp(`added ${name}`));
  });
}

// card is the agent's card with other capabilities.
async function card(capabilities) {
  const own = await (await fetch(`${api}/.well-known/agent-card.json`)).json();
  return { ...own, capabilities: { ...own.capabilities, ...capabilities } };
}

finish();
