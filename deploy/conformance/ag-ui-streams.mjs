// Gives streams of events to the official AG-UI client.
//
//	node ag-ui-streams.mjs 1.0|0.0.59 DIR
//
// Every file of DIR is a stream: a line with the messages that the client holds before
// it, one with those that it holds after it, and a line for each event.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { from } from "rxjs";
import { agUI } from "./ag-ui-clients.mjs";
import { check, finish } from "./check.mjs";

const [version, dir] = process.argv.slice(2);
assert.ok(dir, "usage: ag-ui-streams.mjs VERSION DIR");
const { AbstractAgent, EventSchemas } = await agUI(version);

class Replay extends AbstractAgent {
  constructor(messages, events) {
    super({ initialMessages: messages });
    this.events = events;
  }

  run() {
    return from(this.events.map((e) => EventSchemas.parse(e)));
  }
}

// settled is what both sides must agree on: thoughts are in no message that lasts.
const settled = (messages) => JSON.parse(JSON.stringify(messages.filter((m) => m.role !== "reasoning").map((m) => ({
  id: m.id, role: m.role, content: m.content || undefined, toolCallId: m.toolCallId, toolCalls: m.toolCalls,
}))));

for (const name of readdirSync(dir).sort()) {
  const [before, after, ...events] = readFileSync(join(dir, name), "utf8").split("\n").map((line) => JSON.parse(line));
  await check(name, async () => {
    const agent = new Replay(before, events);
    await agent.runAgent();
    assert.deepEqual(settled(agent.messages), settled(after));
  });
}

finish();
