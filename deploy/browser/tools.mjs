// A tool server for tests, over stdio, in plain JSON-RPC.
//
//	note {…}       destructive; returns its arguments; so do mail, edit, write_file and pay
//	seats          asks the user how many seats, by a form
//	lost           destructive; ends without an answer, once
//	picture        returns a text and an image
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { attack } from "./attack.mjs";

const flag = process.argv[2]; // a file that says that "lost" was called
const text = { type: "string" };
const tool = (name, destructive, properties = {}, $defs) => ({
  name, description: attack(name), annotations: { readOnlyHint: !destructive, destructiveHint: destructive },
  inputSchema: { type: "object", properties, $defs },
});
const tools = [tool("note", true, { name: text, text }), tool("seats", false), tool("lost", true), tool("picture", false),
  tool("mail", true, { to: text, text }), tool("edit", true, { path: text, old_text: text, new_text: text }), tool("write_file", true, { path: text, content: text, mode: text }),
  tool("pay", true, {
    amount: { type: "integer", description: attack("amount"), minimum: 1, multipleOf: 10 }, big: { type: "integer" }, to: { $ref: "#/$defs/place" }, note: { anyOf: [text, { type: "null" }] }, by: text,
    urgent: { type: "boolean" }, currency: { type: "string", enum: ["CHF", "EUR"] }, tags: { type: "array", items: { enum: ["red", "blue"] } }, due: { type: "string", format: "date" }, more: text, extra: { type: "object" },
  }, { place: { type: "object", properties: { city: text, street: text } } })];
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const say = (id, ...content) => send({ id, result: { content } });
const asked = new Map(); // call by the ID of its question

const form = {
  type: "object", required: ["seats", "class"],
  properties: {
    seats: { type: "integer", title: "Seats", description: attack("seats"), minimum: 1, maximum: 9 },
    class: { type: "string", title: "Class", enum: ["first", "second"], enumNames: ["First " + attack("class"), "Second"] },
    window: { type: "boolean", title: "At the window" },
    remark: { type: "string", title: "Remark", maxLength: 60, pattern: "^[a-z]" }, // which no more than begins so
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) return say(asked.get(id), { type: "text", text: `${result?.action} ${JSON.stringify(result?.content ?? null)}` });
  if (method === "initialize") return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "test", version: "1" } } });
  if (method === "tools/list") return send({ id, result: { tools } });
  if (method !== "tools/call") return id !== undefined && send({ id, result: {} });
  call(id, params);
});

function call(id, { name, arguments: args }) {
  switch (name) {
    case "seats":
      asked.set("q" + id, id);
      return send({ id: "q" + id, method: "elicitation/create", params: { message: "How many seats? " + attack("question"), requestedSchema: form } });
    case "lost":
      if (existsSync(flag)) return say(id, { type: "text", text: "it ran" });
      writeFileSync(flag, "");
      return process.exit(1);
    case "picture": return say(id, { type: "text", text: "a picture " + attack("result") }, { type: "image", data: pixel, mimeType: "image/png" });
  }
  say(id, { type: "text", text: `noted ${JSON.stringify(args)} ${attack("result")}` });
}
