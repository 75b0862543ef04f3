// Drives an agent with clients of OpenAI's API: OpenAI's SDK and agents, the AI SDK with three
// providers, one of them that of Open Responses, and LangChain.js.
//
//	node openai.mjs URL        where URL is that of the API
//
// The agent is called tester. Its server counting has the tools note_list and note_add, of which
// note_add wants an approval, and its model does what a message says: "call TOOL ARGS", "say TEXT".
import assert from "node:assert/strict";
import OpenAI from "openai";
import { Agent, hostedMcpTool, run, setDefaultOpenAIClient, setTracingDisabled, tool as agentTool } from "@openai/agents";
import { ResponsesWS } from "openai/resources/responses/ws";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { check, finish } from "./check.mjs";

const [api] = process.argv.slice(2);
assert.ok(api, "usage: openai.mjs URL");
const baseURL = `${api}/v1`, apiKey = "anything";
const client = new OpenAI({ baseURL, apiKey });
const name = "tester";

const codeIn = (text) => {
  const found = /approve (\S+)/.exec(text);
  assert.ok(found, `no code in ${text}`);
  return found[1];
};
const waiting = async () => (await (await fetch(`${api}/approvals`)).json()).approvals.length;

// chat keeps a chat as clients of chat/completions do.
function chat(options = {}) {
  const messages = [];
  const ask = async (content) => {
    if (content) messages.push({ role: "user", content });
    const { data, response } = await client.chat.completions.create({ model: name, messages, ...options }).withResponse();
    messages.push(data.choices[0].message);
    return { text: data.choices[0].message.content, message: data.choices[0].message, conversation: response.headers.get("x-conversation-id"), finish: data.choices[0].finish_reason };
  };
  return { messages, ask };
}

// openai

await check("openai: models", async () => {
  const models = [];
  for await (const m of client.models.list()) models.push(m.id);
  assert.ok(models.includes(name), models.join());
  assert.equal((await client.models.retrieve(name)).id, name);
  await assert.rejects(client.models.retrieve("gpt-4o"), (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found");
});

await check("openai: a chat is one conversation", async () => {
  const c = chat();
  const first = await c.ask("say one"), second = await c.ask("say two");
  assert.equal(first.text, "one");
  assert.equal(second.text, "two");
  assert.equal(first.conversation, second.conversation);
});

await check("openai: a stream with usage", async () => {
  const stream = client.chat.completions.stream({ model: name, messages: [{ role: "user", content: "say streamed words" }], stream_options: { include_usage: true } });
  const end = await stream.finalChatCompletion();
  assert.equal(end.choices[0].message.content, "streamed words");
  assert.ok(end.usage.total_tokens >= 0);
});

await check("openai: a code approves", async () => {
  const c = chat();
  const asked = await c.ask("call note_add {}");
  const done = await c.ask(`approve ${codeIn(asked.text)}`);
  assert.equal(done.conversation, asked.conversation);
  assert.ok(!done.text.includes("Approval needed"), done.text);
  assert.equal((await c.ask("say on")).conversation, asked.conversation);
});

await check("openai: a code rejects", async () => {
  const c = chat();
  const asked = await c.ask("call note_add {}");
  const done = await c.ask(`reject ${codeIn(asked.text)} not today`);
  assert.equal(done.conversation, asked.conversation);
});

await check("openai: functions of the client", async () => {
  const c = chat({ tools: [{ type: "function", function: { name: "weather", description: "the weather", parameters: { type: "object", properties: { city: { type: "string" } } } } }] });
  const asked = await c.ask('call weather {"city":"Bern"}');
  assert.equal(asked.finish, "tool_calls");
  const [call] = asked.message.tool_calls;
  assert.deepEqual(JSON.parse(call.function.arguments), { city: "Bern" });
  c.messages.push({ role: "tool", tool_call_id: call.id, content: "sunny" });
  const done = await c.ask();
  assert.match(done.text, /sunny/);
  assert.equal(done.conversation, asked.conversation);
});

await check("openai: a request that is repeated sends nothing twice", async () => {
  let calls = 0;
  const flaky = new OpenAI({ baseURL, apiKey, maxRetries: 1, fetch: async (...args) => {
    const reply = await fetch(...args);
    return calls++ ? reply : new Response("{}", { status: 503 }); // the reply is lost
  } });
  const text = `say ${crypto.randomUUID()}`;
  const { data, response } = await flaky.chat.completions.create({ model: name, messages: [{ role: "user", content: text }] }).withResponse();
  assert.equal(calls, 2);
  assert.equal(data.choices[0].message.content, text.slice(4));
  const conversation = await (await fetch(`${api}/conversations/${response.headers.get("x-conversation-id")}`)).json();
  assert.equal((conversation.conversation ?? conversation).messages.filter((m) => m.role === "user").length, 1);
});

await check("openai: responses go on, and are stored", async () => {
  const first = await client.responses.create({ model: name, input: "say one", metadata: { a: "b" } });
  assert.equal(first.output_text, "one");
  const second = await client.responses.create({ model: name, input: "say two", previous_response_id: first.id });
  assert.equal(second.output_text, "two");
  assert.equal(second.conversation.id, first.conversation.id);
  const third = await client.responses.create({ model: name, input: "say three", conversation: first.conversation.id });
  assert.equal(third.conversation.id, first.conversation.id);
  assert.equal((await client.responses.retrieve(first.id)).output_text, "one");
  const items = [];
  for await (const i of client.responses.inputItems.list(first.id)) items.push(i);
  assert.equal(items[0].content[0].text, "say one");
});

await check("openai: a stream of a response, and its rest", async () => {
  const stream = client.responses.stream({ model: name, input: "say some streamed words" });
  const end = await stream.finalResponse();
  assert.equal(end.output_text, "some streamed words");
  let rest = "", last = -1;
  for await (const e of await client.responses.retrieve(end.id, { stream: true, starting_after: 5 })) {
    assert.equal(e.sequence_number, Math.max(5, last) + 1);
    last = e.sequence_number;
    if (e.type === "response.output_text.delta") rest += e.delta;
  }
  assert.equal(rest, " streamed words"); // 4 events are before the text, which begins with its first character and the rest of the word
});

await check("openai: a response in the background", async () => {
  let r = await client.responses.create({ model: name, input: "say later", background: true });
  for (let i = 0; r.status === "in_progress" && i < 200; i++) {
    await new Promise((done) => setTimeout(done, 50));
    r = await client.responses.retrieve(r.id);
  }
  assert.equal(r.output_text, "later");
  assert.equal((await client.responses.cancel(r.id)).status, "completed");
});

await check("openai: responses over a WebSocket", async () => {
  const ws = new ResponsesWS(client);
  const events = ws.stream();
  const ask = async (more) => {
    ws.send({ type: "response.create", model: name, store: false, ...more });
    for (;;) { // a loop over the events would end them
      const { value: m, done } = await events.next();
      assert.ok(!done, "the connection has ended");
      if (m.type === "error") throw m.error;
      if (m.type === "message" && m.message.type === "response.completed") return m.message.response;
    }
  };
  try {
    const first = await ask({ input: "say one" });
    assert.equal(first.output[0].content[0].text, "one");
    const second = await ask({ input: "say two", previous_response_id: first.id });
    assert.equal(second.output[0].content[0].text, "two");
    assert.equal(second.conversation.id, first.conversation.id);
    await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
    await assert.rejects(ask({ input: "say three", previous_response_id: "resp_none" }), /no response with the id resp_none/);
  } finally {
    ws.close();
  }
});

await check("openai: a PDF reaches the model, and what is none is refused", async () => {
  const pdf = (text) => ({ filename: "plan.pdf", file_data: `data:application/pdf;base64,${btoa(text)}` });
  const response = (text) => client.responses.create({ model: name, input: [{ role: "user", content: [{ type: "input_text", text: "say read" }, { type: "input_file", ...pdf(text) }] }] });
  assert.equal((await response("%PDF-1.7\n%%EOF\n")).output_text, "read\n\n[PDF plan.pdf]"); // the text would say that the model cannot read it
  await assert.rejects(response("PK"), (e) => e.status === 415 && /plan\.pdf is no PDF/.test(e.message));
  const c = chat();
  assert.equal((await c.ask([{ type: "text", text: "say read" }, { type: "file", file: pdf("%PDF-1.7\n%%EOF\n") }])).text, "read\n\n[PDF plan.pdf]");
});

await check("openai: a compaction begins a new chain", async () => {
  const compacted = await client.responses.compact({ model: name, input: [{ role: "user", content: "say papaya" }, { role: "assistant", content: "papaya" }] });
  assert.deepEqual(compacted.output.map((i) => i.type), ["compaction"]);
  const after = await client.responses.create({ model: name, input: [...compacted.output, { role: "user", content: "say on" }] });
  assert.match(after.output_text, /papaya[^]*on$/); // the model repeats what it is told
});

// @openai/agents

setTracingDisabled(true);
setDefaultOpenAIClient(client);

await check("@openai/agents: a run", async () => {
  const result = await run(new Agent({ name: "a", model: name }), "say hello");
  assert.equal(result.finalOutput, "hello");
});

for (const approve of [true, false]) {
  await check(`@openai/agents: an interruption is ${approve ? "approved" : "rejected"}, and the run goes on`, async () => {
    const agent = new Agent({ name: "a", model: name, tools: [hostedMcpTool({ serverLabel: "counting", serverUrl: "https://mcp.example.com", requireApproval: "always" })] });
    let result = await run(agent, "call note_add {}");
    assert.equal(result.interruptions.length, 1);
    for (const i of result.interruptions) approve ? result.state.approve(i) : result.state.reject(i);
    result = await run(agent, result.state);
    assert.equal(result.interruptions.length, 0);
    assert.ok(result.finalOutput, "no output");
  });
}

await check("@openai/agents: a tool of the client, streamed", async () => {
  const weather = agentTool({ name: "weather", description: "the weather", parameters: z.object({ city: z.string() }), execute: ({ city }) => `sunny in ${city}` });
  const result = await run(new Agent({ name: "a", model: name, tools: [weather] }), 'call weather {"city":"Bern"}', { stream: true });
  await result.completed;
  assert.match(result.finalOutput, /sunny in Bern/);
});

// AI SDK

const providers = {
  "@ai-sdk/openai responses": createOpenAI({ baseURL, apiKey }).responses(name),
  "@ai-sdk/openai chat": createOpenAI({ baseURL, apiKey }).chat(name),
  "@ai-sdk/open-responses": createOpenResponses({ name: "agent", url: `${baseURL}/responses`, apiKey })(name),
  "@ai-sdk/openai-compatible": createOpenAICompatible({ name: "agent", baseURL, apiKey })(name),
};
for (const [provider, model] of Object.entries(providers)) {
  await check(`${provider}: text and stream`, async () => {
    assert.equal((await generateText({ model, prompt: "say hello" })).text, "hello");
    const { textStream } = streamText({ model, messages: [{ role: "user", content: "say hello" }, { role: "assistant", content: "hello" }, { role: "user", content: "say two" }] });
    let text = "";
    for await (const piece of textStream) text += piece;
    assert.equal(text, "two");
  });
  await check(`${provider}: a tool of the client`, async () => {
    const tools = { weather: tool({ description: "the weather", inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `sunny in ${city}` }) };
    const result = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'call weather {"city":"Bern"}' });
    assert.match(result.text, /sunny in Bern/);
  });
}

await check("@ai-sdk/openai: an approval is asked for, and the text goes on", async () => {
  const openai = createOpenAI({ baseURL, apiKey });
  const tools = { mcp: openai.tools.mcp({ serverLabel: "counting", serverUrl: "https://mcp.example.com", requireApproval: "always" }) };
  const messages = [{ role: "user", content: "call note_add {}" }];
  const before = await waiting();
  const first = await generateText({ model: openai.responses(name), tools, messages });
  const asked = first.content.filter((p) => p.type === "tool-approval-request");
  assert.equal(asked.length, 1, JSON.stringify(first.content));
  messages.push(...first.response.messages, { role: "tool", content: [{ type: "tool-approval-response", approvalId: asked[0].approvalId, approved: true, providerExecuted: true }] });
  const second = await generateText({ model: openai.responses(name), tools, messages });
  assert.ok(second.text, JSON.stringify(second.content));
  assert.equal(await waiting(), before);
});

// LangChain.js

const langchain = (more) => new ChatOpenAI({ model: name, apiKey, configuration: { baseURL }, ...more });

for (const useResponsesApi of [false, true]) {
  const api = useResponsesApi ? "responses" : "chat";
  await check(`LangChain.js ${api}: text and stream`, async () => {
    const model = langchain({ useResponsesApi });
    assert.equal((await model.invoke("say hello")).text, "hello");
    let text = "";
    for await (const piece of await model.stream("say streamed words")) text += piece.text;
    assert.equal(text, "streamed words");
  });
  await check(`LangChain.js ${api}: a tool of the client`, async () => {
    const model = langchain({ useResponsesApi }).bindTools([{ name: "weather", description: "the weather", schema: z.object({ city: z.string() }) }]);
    const asked = await model.invoke('call weather {"city":"Bern"}');
    assert.deepEqual(asked.tool_calls[0].args, { city: "Bern" });
    const done = await model.invoke([{ role: "user", content: 'call weather {"city":"Bern"}' }, asked, { role: "tool", tool_call_id: asked.tool_calls[0].id, content: "sunny" }]);
    assert.match(done.text, /sunny/);
  });
}

finish();
