// Sends tasks to an agent with the official A2A SDKs for JavaScript, that of 0.3 and
// that of 1.0, and in the older dialect of Agent Stop and Go by hand.
//
//	node a2a-client.mjs URL        where URL is that of the API
//
// The agent has the tools note_list and note_add, of which note_add wants an
// approval, and a model that does what a message says: "call TOOL ARGS", "say TEXT".
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { TaskState } from "@a2a-js/sdk";
import { ClientFactory as OldClientFactory } from "a2a-js-sdk-0.3/client";
import { check, finish } from "./check.mjs";

const [api] = process.argv.slice(2);
assert.ok(api, "usage: a2a-client.mjs URL");

async function all(stream) {
  const events = [];
  for await (const e of stream) events.push(e);
  return events;
}

const ask = "call note_add {\"name\":\"apple\"}";

// 1.0, with the client that speaks it and with the one that falls back to 0.3.
async function v10(label, options) {
  const client = await new ClientFactory(options).createFromUrl(api);
  const send = (text, more = {}) => ({
    tenant: "", metadata: undefined, configuration: more.configuration,
    message: {
      messageId: more.messageId ?? randomUUID(), role: 1, taskId: more.taskId ?? "", contextId: more.contextId ?? "",
      extensions: [], referenceTaskIds: [], metadata: undefined,
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    },
  });
  const textOf = (task) => task.artifacts[0].parts[0].content.value;

  await check(`${label}: a message is answered`, async () => {
    const task = await client.sendMessage(send("say hello"));
    assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(textOf(task), "hello");
    const again = await client.getTask({ tenant: "", id: task.id });
    assert.deepEqual(again, task);
  });
  await check(`${label}: a message sent twice is one task`, async () => {
    const messageId = randomUUID();
    const one = await client.sendMessage(send("say once", { messageId }));
    const two = await client.sendMessage(send("say once", { messageId }));
    assert.equal(one.id, two.id);
  });
  await check(`${label}: an approval is given`, async () => {
    const task = await client.sendMessage(send(ask));
    assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    const unsure = await client.sendMessage(send("what is that?", { taskId: task.id }));
    assert.equal(unsure.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    const done = await client.sendMessage(send("approved", { taskId: task.id, contextId: task.contextId }));
    assert.equal(done.status.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(textOf(done), "The tool said: added apple");
  });
  await check(`${label}: an approval is rejected`, async () => {
    const task = await client.sendMessage(send(ask));
    const done = await client.sendMessage(send("rejected", { taskId: task.id }));
    assert.equal(done.status.state, TaskState.TASK_STATE_REJECTED);
  });
  await check(`${label}: a task that waits is cancelled`, async () => {
    const task = await client.sendMessage(send(ask));
    const done = await client.cancelTask({ tenant: "", id: task.id, metadata: undefined });
    assert.equal(done.status.state, TaskState.TASK_STATE_CANCELED);
  });
  await check(`${label}: a stream tells a task to its end`, async () => {
    const events = await all(client.sendMessageStream(send("say streamed")));
    const kinds = events.map((e) => e.payload?.$case);
    assert.equal(kinds[0], "task", kinds.join());
    const last = events.at(-1).payload.value.status.state;
    assert.equal(last, TaskState.TASK_STATE_COMPLETED);
  });
  await check(`${label}: no such task`, async () => {
    await assert.rejects(client.getTask({ tenant: "", id: randomUUID() }), /Task not found/i);
  });
}

async function v03() {
  const client = await new OldClientFactory().createFromUrl(api);
  const send = (text, more = {}) => ({
    message: { kind: "message", messageId: randomUUID(), role: "user", parts: [{ kind: "text", text }], ...more },
  });
  await check("0.3: the card", async () => {
    const card = await client.getAgentCard();
    assert.ok(card.url.endsWith("/a2a") && card.capabilities.streaming && card.skills.length > 1, JSON.stringify(card));
  });
  await check("0.3: a message is answered", async () => {
    const task = await client.sendMessage(send("say hello"));
    assert.equal(task.status.state, "completed");
    assert.equal(task.artifacts[0].parts[0].text, "hello");
    assert.equal((await client.getTask({ id: task.id })).id, task.id);
  });
  await check("0.3: an approval is given in a stream", async () => {
    const events = await all(client.sendMessageStream(send(ask)));
    const { taskId, id, status } = events.at(-1);
    assert.equal(status.state, "input-required");
    const more = await all(client.sendMessageStream(send("approved", { taskId: taskId ?? id })));
    assert.equal(more.at(-1).status.state, "completed");
    assert.ok(more.at(-1).final);
  });
  await check("0.3: a task is subscribed to again", async () => {
    const task = await client.sendMessage(send(ask));
    const told = [];
    for await (const e of client.resubscribeTask({ id: task.id })) {
      told.push(e);
      if (told.length === 1) await client.sendMessage(send("rejected", { taskId: task.id }));
    }
    assert.equal(told[0].kind, "task");
    assert.equal(told.at(-1).status.state, "rejected");
  });
  await check("0.3: a web hook is kept", async () => {
    const task = await client.sendMessage(send(ask));
    const pushNotificationConfig = { id: "hook", url: "https://example.com/hook", token: "t" };
    await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig });
    const list = await client.listTaskPushNotificationConfig({ id: task.id });
    assert.equal(list[0].pushNotificationConfig.url, "https://example.com/hook");
    await client.deleteTaskPushNotificationConfig({ id: task.id, pushNotificationConfigId: "hook" });
    assert.deepEqual(await client.listTaskPushNotificationConfig({ id: task.id }), []);
  });
}

async function old() {
  const call = async (method, params) => (await fetch(`${api}/a2a`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })).json();
  const send = (text, taskId) => call("message/send", { taskId, message: { role: "user", parts: [{ type: "text", text }] } });
  await check("old dialect: an approval, and one more message", async () => {
    const asked = (await send(ask)).result;
    assert.match(asked.status.message, /^Approval required \(id: .*\): /);
    const done = (await send("approved", asked.id)).result;
    assert.deepEqual([done.status.state, done.artifact.parts[0]], ["completed", { type: "text", text: "The tool said: added apple" }]);
    assert.equal((await send("say more", asked.id)).result.artifact.parts[0].text, "more");
    assert.equal((await call("tasks/get", { id: asked.id })).result.artifact.parts[0].text, "more");
  });
  await check("old dialect: errors", async () => {
    assert.equal((await call("tasks/nonsense", {})).error.code, -32601);
    assert.equal((await send("x", randomUUID())).error.code, -32602);
  });
}

await v10("1.0");
await v10("1.0 SDK that may fall back", ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } })],
  cardResolver: new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }),
}));
await v03();
await old();
finish();
