// Drives an agent with Ollama's own client for JavaScript.
//
//	node ollama.mjs URL        where URL is that of the port of clients.ollama
//
// The agent is called tester. Its server counting has the tools note_list and note_add, of which
// note_add wants an approval, and its model does what a message says: "call TOOL ARGS", "say TEXT".
import assert from "node:assert/strict";
import { Ollama } from "ollama";
import { check, finish } from "./check.mjs";

const [host] = process.argv.slice(2);
assert.ok(host, "usage: ollama.mjs URL");
const client = new Ollama({ host });
const model = "tester";

// chat keeps a chat as clients do.
function chat(options = {}) {
  const messages = [];
  return {
    messages,
    ask: async (content) => {
      if (content) messages.push({ role: "user", content });
      const reply = await client.chat({ model, messages, ...options });
      messages.push(reply.message);
      return reply;
    },
  };
}

await check("models", async () => {
  const { models } = await client.list();
  assert.equal(models[0].name, "tester:latest");
  assert.ok((await client.ps()).models.length > 0);
  const shown = await client.show({ model: models[0].name });
  assert.ok(shown.capabilities.includes("tools"));
  assert.ok((await client.version()).version);
  await assert.rejects(client.show({ model: "llama3.2" }), (e) => e.status_code === 404 && /not found/.test(e.message));
});

await check("a chat, with figures", async () => {
  const c = chat();
  const first = await c.ask("say one"), second = await c.ask("say two");
  assert.equal(first.message.content, "one");
  assert.equal(second.message.content, "two");
  assert.equal(second.done_reason, "stop");
  assert.ok(second.total_duration > 0 && second.eval_duration > 0);
});

await check("a chat that is streamed", async () => {
  let text = "", last, lines = 0;
  for await (const part of await client.chat({ model, stream: true, messages: [{ role: "user", content: "say some streamed words" }] })) {
    text += part.message.content;
    last = part;
    lines++;
  }
  assert.equal(text, "some streamed words");
  assert.ok(last.done && lines > 1, `${lines} lines`);
});

await check("a prompt, and its context", async () => {
  const first = await client.generate({ model, prompt: "say one" });
  assert.equal(first.response, "one");
  const second = await client.generate({ model, prompt: "say two", context: first.context });
  assert.equal(second.response, "two");
  assert.deepEqual(second.context, first.context);
});

for (const word of ["approve", "reject"]) {
  await check(`a code: ${word}`, async () => {
    const c = chat();
    const asked = await c.ask("call note_add {}");
    const code = /approve (\S+)/.exec(asked.message.content);
    assert.ok(code, `no code in ${asked.message.content}`);
    const done = await c.ask(`${word} ${code[1]}`);
    assert.ok(!done.message.content.includes("Approval needed"), done.message.content);
    assert.equal((await c.ask("say on")).message.content, "on");
  });
}

await check("a tool of the client", async () => {
  const parameters = { type: "object", required: ["city"], properties: { city: { type: "string" } } };
  const c = chat({ tools: [{ type: "function", function: { name: "weather", description: "the weather", parameters } }] });
  const asked = await c.ask('call weather {"city":"Bern"}');
  const [call] = asked.message.tool_calls;
  assert.equal(call.function.name, "weather");
  assert.deepEqual(call.function.arguments, { city: "Bern" });
  c.messages.push({ role: "tool", tool_name: "weather", content: "sunny" });
  assert.match((await c.ask()).message.content, /sunny/);
});

await check("what an agent cannot do", async () => {
  for (const ask of [() => client.pull({ model: "llama3.2" }), () => client.delete({ model }), () => client.embed({ model, input: "x" })]) {
    await assert.rejects(ask, (e) => e.status_code === 501 && /not supported/.test(e.message));
  }
});

await check("a stream that is aborted", async () => {
  const one = new Ollama({ host });
  const stream = await one.chat({ model, stream: true, messages: [{ role: "user", content: "say some streamed words" }] });
  one.abort();
  await assert.rejects((async () => { for await (const _ of stream); })());
});

finish();
