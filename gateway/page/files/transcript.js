// Events of AG-UI to the entries of a conversation.

export const namespace = "agent-stop-and-go";

// An entry is {kind, id, node, text}, where kind is user, text, thought, call, notice or
// decision. A call also has its tool, rejected, and, once it has returned, result, isError, missing, note and media.
// A notice that announces an approval has its uuid, and so has a decision, whose value is the
// event's.
export class Transcript {
  entries = [];
  #index = new Map();

  // take changes the entries by an event.
  take(e) {
    switch (e.type) {
      case "TEXT_MESSAGE_START": return this.#begin({ kind: e.role === "user" ? "user" : "text", id: e.messageId, node: e.name, text: "" });
      case "TEXT_MESSAGE_CONTENT": return this.#append(e.messageId, e.delta, "text", "user");
      case "REASONING_MESSAGE_START": return this.#begin({ kind: "thought", id: e.messageId, text: "" });
      case "REASONING_MESSAGE_CONTENT": return this.#append(e.messageId, e.delta, "thought");
      case "TOOL_CALL_START": return this.#begin({ kind: "call", id: e.toolCallId, tool: e.toolCallName, text: "" });
      case "TOOL_CALL_ARGS": return this.#append(e.toolCallId, e.delta, "call");
      case "TOOL_CALL_RESULT": return this.#result(e.toolCallId, e.content, e.metadata);
      case "MESSAGES_SNAPSHOT": return this.#replace(e.messages);
      case "CUSTOM": return this.#notice(e);
    }
  }

  find(kind, id) { return this.#index.get(kind + " " + id); }

  #begin(entry) {
    const old = this.find(entry.kind, entry.id);
    if (old) return Object.assign(old, entry);
    this.#index.set(entry.kind + " " + entry.id, entry);
    this.entries.push(entry);
  }

  #append(id, delta, ...kinds) {
    const entry = kinds.map((k) => this.find(k, id)).find(Boolean);
    if (entry) entry.text += delta;
  }

  #result(call, text, metadata) {
    const entry = this.find("call", call);
    if (entry) Object.assign(entry, { result: text, isError: false, note: "", media: [] }, metadata?.[namespace]);
  }

  #notice({ name, value }) {
    if (name === namespace + ".decision" && value.decision === "rejected") this.#reject(value.tool);
    if (name === namespace + ".decision") this.#begin({ kind: "decision", id: value.id, node: value.node, text: value.text, uuid: value.uuid, value });
    if (name === namespace + ".notice") this.#begin({ kind: "notice", id: value.id, node: value.node, text: value.text, uuid: value.uuid });
  }

  // reject marks the oldest call of a tool that has no result: it will not run.
  #reject(tool) {
    const call = this.entries.find((e) => e.kind === "call" && e.tool === tool && e.result === undefined && !e.rejected);
    if (call) call.rejected = true;
  }

  // replace replaces the messages. Notices, which snapshots do not have, stay behind the entry
  // that they followed.
  #replace(messages) {
    const old = this.entries;
    this.entries = [];
    this.#index.clear();
    for (const m of messages) this.#add(m);
    let behind = -1;
    for (const entry of old) {
      const at = this.entries.indexOf(this.find(entry.kind, entry.id));
      if (entry.rejected && at >= 0) this.entries[at].rejected = true;
      if (entry.kind !== "notice" && entry.kind !== "decision") {
        if (at >= 0) behind = at;
        continue;
      }
      this.entries.splice(++behind, 0, entry);
      this.#index.set(entry.kind + " " + entry.id, entry);
    }
  }

  #add(m) {
    if (m.role === "tool") return this.#result(m.toolCallId, m.content, m.metadata);
    if (m.role === "user") this.#begin({ kind: "user", id: m.id, node: m.name, text: m.content ?? "" });
    if (m.role === "reasoning") this.#begin({ kind: "thought", id: m.id, text: m.content ?? "" });
    if (m.role === "assistant" && m.content) this.#begin({ kind: "text", id: m.id, node: m.name, text: m.content });
    for (const c of m.toolCalls ?? []) this.#begin({ kind: "call", id: c.id, tool: c.function.name, text: c.function.arguments });
  }
}
