// A model for tests, in the wire format of OpenAI. It does what the last message says:
//
//	say TEXT          TEXT, word by word
//	slowly TEXT       the same, with a pause before each word
//	held TEXT         the same, but waits before each line until next is called
//	call TOOL JSON    calls a tool, then says what it returned
import { createServer } from "node:http";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// serveModel starts the model and returns its URL, how to end it, and next, which has it write the next
// line of what is held.
export async function serveModel() {
  let ahead = 0, go;
  const line = async () => {
    while (!ahead) await new Promise((done) => { go = done; });
    ahead--;
  };
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const { messages } = JSON.parse(body);
    const { text, call, wait, held } = replyTo(messages);
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta, finish = null) => res.write(`data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "test-model", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    send({ role: "assistant", content: "" });
    if (call) send({ tool_calls: [{ index: 0, id: "call-" + messages.length, type: "function", function: call }] });
    for (const word of text.split(/(?<= )/)) {
      if (word) send({ content: word });
      await pause(wait);
      if (held && word.includes("\n")) await line();
    }
    send({}, call ? "tool_calls" : "stop");
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, next: () => { ahead++; go?.(); }, close: () => { server.closeAllConnections(); server.close(); } };
}

const textOf = ({ content }) => typeof content === "string" ? content : (content ?? []).map((p) => p.text ?? "").join("");

function replyTo(messages) {
  const last = messages.findLast((m) => m.role === "user" || m.role === "tool");
  const task = textOf(last);
  if (last.role === "tool") return { text: "The tool said: " + task, wait: 1 };
  const [, verb, rest] = /^(\w+) ([^]*)$/.exec(task) ?? [];
  if (verb === "say" || verb === "slowly") return { text: rest, wait: verb === "say" ? 1 : 60 };
  if (verb === "held") return { text: rest, wait: 1, held: true };
  if (verb !== "call") return { text: "You said: " + task, wait: 1 };
  const [, name, args] = /^(\S+) ?([^]*)$/.exec(rest);
  return { text: "", call: { name, arguments: args || "{}" }, wait: 0 };
}
