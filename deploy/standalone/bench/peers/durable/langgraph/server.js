// A server whose conversations are threads of a LangGraph graph: the model, then its tool, until
// the model calls none. The tool "write" interrupts the graph until somebody decides. A
// checkpoint is in SQLite before the next step begins (durability: sync).
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { Annotation, Command, END, START, StateGraph, interrupt } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const State = Annotation.Root({
  messages: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
const tools = ["look", "write"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: {} } },
}));

async function model({ messages }) {
  const response = await fetch(`${process.env.MODEL_URL}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "bench", tools, messages: [{ role: "system", content: "as told" }, ...messages] }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  return { messages: [(await response.json()).choices[0].message] };
}

function tool({ messages }) {
  return {
    messages: messages.at(-1).tool_calls.map((call) => {
      const approved = call.function.name !== "write" || interrupt({ call });
      return { role: "tool", tool_call_id: call.id, content: approved ? "ok" : "rejected" };
    }),
  };
}

const graph = new StateGraph(State)
  .addNode("model", model)
  .addNode("tool", tool)
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) => (messages.at(-1).tool_calls?.length ? "tool" : END))
  .addEdge("tool", "model")
  .compile({ checkpointer: SqliteSaver.fromConnString(join(process.env.DIR, "checkpoints.db")) });

async function run(id, input) {
  const state = await graph.invoke(input, { configurable: { thread_id: id }, durability: "sync" });
  return state.__interrupt__ ? { id, state: "waiting" } : { id, state: "done", answer: state.messages.at(-1).content };
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

async function serve(request) {
  const [, , id] = request.url.split("/");
  if (id) return run(id, new Command({ resume: true }));
  const { message } = await body(request);
  return run(randomUUID(), { messages: [{ role: "user", content: message }] });
}

createServer(async (request, response) => {
  try {
    const answer = request.method === "GET" ? {} : await serve(request);
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answer));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(String(error));
  }
}).listen(process.env.PORT, "127.0.0.1");
