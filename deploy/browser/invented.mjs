// A conversation with everything that the page can show. text makes each text that a model, a
// tool, another agent or a person may have written.
const at = "2026-03-01T10:00:00Z", id = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f";
const uuid = (n) => `3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d${10 + n}`;

// Addresses of conversations that are deleted, or were never there.
export const gone = uuid(70), missing = uuid(71);

// invented answers the requests of a tab with it.
export async function invented(page, text) {
  const tool = { name: text("tool"), server: text("server"), argument: text("name") }, approvals = approvalsOf(text, tool);
  const json = (path, body) => page.route(path, (r) => r.fulfill({ json: body }));
  await page.route("**/conversations/*/events*", (r) => r.fulfill({ contentType: "text/event-stream", body: eventsOf(text, approvals).map((e) => `data: ${JSON.stringify(e)}\n\n`).join("") }));
  const conversations = Array.from({ length: 7 }, (_, n) => ({ id: n ? uuid(n) : id, short_id: "#" + n, title: text("title"), status: ["active", "waiting_approval", "completed"][n % 3], created_at: at, updated_at: at }));
  await json(/\/conversations\?/, { conversations, summary: { total: 7, active: 3, waiting_approval: 2, completed: 2 }, next_cursor: "x" });
  await json(/\/conversations\?(?:.*&)?q=/, { conversations: conversations.map((c) => ({ ...c, excerpt: text("excerpt") })), search: { searched: 7, texts: 5 }, next_cursor: "x" });
  await json("**/commands", { command: "list", text: text("command reply") + "\n".repeat(3) + text("second line"), conversation_id: id });
  for (const [path, status] of [[gone, 410], [missing, 404]]) await page.route(`**/conversations/${path}/**`, (r) => r.fulfill({ status, json: { error: text("error") } }));
  await json(/\/approvals\?/, { approvals: approvals.map((a) => ({ ...a, url: "", deferred_until: a.uuid === uuid(4) ? "2099-12-31T10:00:00Z" : undefined })).filter((a) => !a.decision) });
  for (const a of approvals) {
    await json("**/approvals/" + a.uuid, a.decision ? { approval: a, status: a.decision.decision, decision: a.decision } : { approval: a, status: "pending", problem: text("problem") });
  }
  await json(/\/\?$/, { name: text("agent"), description: text("description"), version: text("version"), links: { docs: "docs", temporal_ui: "javascript:attacked('link')", temporal_workflows: "https://temporal.example/namespaces/default/workflows/" } });
  await json("**/tools", { tools: [{ name: tool.name, description: text("tool description"), server: tool.server, inputSchema: schemaOf(text, tool), approval: { asks: true, because: "setting" } }, { name: "list", description: text("list"), inputSchema: {} }], servers: [], model: { name: "m" } });
  await json("**/me", { authenticated: true, subject: text("subject") });
  await page.route("**/media/**", (r) => r.fulfill({ contentType: "image/png", body: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC", "base64") }));
}

// schemaOf is the schema of the tool that most approvals are about.
const schemaOf = (text, { argument }) => ({ properties: {
  [argument]: { enum: [text("value"), text("other value")] }, n: { type: "string", maxLength: 40, title: text("argument title") }, flag: { type: "boolean", description: text("argument hint") },
  list: { type: "array", items: {} }, tags: { type: "array", items: { enum: [text("tag"), "b"] } }, number: { type: "number" },
} });

function approvalsOf(text, { name, server, argument }) {
  const edit = [argument, "n", "flag", "list", "long", "tags", "number", text("unknown")];
  const revision = { arguments: { [argument]: text("changed value"), list: text("changed list"), more: text("added") }, arguments_sha256: "2ac5", changes: [argument, "list", "more"].map((n) => ({ name: n, after: "cut" })) };
  const base = (n, more) => ({
    uuid: uuid(n), conversation_id: id, tool_name: name, tool_args: { [argument]: text("value"), n: 12345678901234567890n.toString(), list: [1, text("item")], long: text("long ").repeat(200), empty: "" },
    description: text("approval description"), created_at: at, node: text("node"), tool_args_sha256: "2ac4", binding: { address: text("address"), definition_sha256: "aa" },
    requester: { subject: text("requester"), issuer: text("issuer") }, approvers: ["requester:converse", "subject:" + text("approver"), "group:" + text("group"), "scope:" + text("scope"), "not_requester"],
    server, chain: [text("agent"), text("peer")], agent_name: text("agent"), because: "annotation", expires_at: "2099-12-31T10:00:00Z", ...more,
  });
  const schema = {
    type: "object", required: ["seats", "of"], properties: {
      seats: { type: "integer", title: text("field"), description: text("hint"), minimum: 1 }, of: { type: "string", enum: [text("choice"), "b"] },
      many: { type: "array", title: "Many", items: { enum: [text("many"), "y"] } }, when: { type: "string", format: "date", title: "When" }, window: { type: "boolean", title: "At the window" },
      [text("property")]: { type: "string", default: text("default") },
    },
  };
  const login = { server: text("login server"), way: "server", url: "https://login.example/" + encodeURIComponent(text("login address")), caller: text("login caller"), why: text("login reason") };
  const origin = { chain: [text("peer"), text("far peer")], tool: text("far tool"), arguments: { a: text("far argument") }, reason: "destructive", description: text("far description") };
  return [
    base(0, { reason: "destructive", edit }), base(1, { reason: "question", schema, explanation: text("explanation") }), base(2, { reason: "unknown_outcome" }),
    base(3, { reason: "remote", remote_agent_name: text("peer"), origin }), base(4, { reason: "changed", edit: [argument, "old_text", "path", "flag"], granted: { address: text("old address") }, tool_args: { path: text("path"), old_text: text("old") + "\nthe same\nends here", new_text: text("new") + "\nthe same\nends there", patch: "--- a\n+++ b\n@@ -1 +1 @@\n-" + text("minus") + "\n+" + text("plus") } }),
    base(5, { reason: "destructive", decision: { uuid: uuid(5), conversation_id: id, tool: text("tool"), decision: "approved", by: text("by"), revision, reason: text("reason"), requested_at: at, decided_at: at } }),
    base(6, { reason: "destructive", decision: { uuid: uuid(6), conversation_id: id, tool: text("tool"), decision: "rejected", by: text("by"), on_behalf_of: text("other"), via: "a2a", reason: text("reason"), requested_at: at, decided_at: at } }),
    base(7, { reason: "login", login }), base(8, { reason: "login", login: { ...login, way: "agent", url: `javascript:${text("script")}` } }), base(9, { reason: "paused" }), base(10, { reason: "not_reached" }),
    base(11, { reason: "limit", tool_name: "go_on", tool_args: { limit: text("limit"), spent: text("spent"), allowed: text("allowed"), more: text("more") } }),
    base(12, { reason: "client_tool", schema: { type: "object", required: ["content"], properties: { content: { type: "string", title: text("content") }, is_error: { type: "boolean" } } } }),
    base(13, { reason: "remote", origin: { ...origin, reason: "paused" } }), base(14, { tool_name: "write_file " + text("tool"), tool_args: { path: text("path"), content: text("content") } }),
  ];
}

function treeOf(text) {
  const node = (path, name, type, status, more) => ({ name: text(name), type, path, status, started_at: status === "pending" ? undefined : at, ...more });
  const done = { ended_at: "2026-03-01T10:00:04Z", duration_ms: 4000, output: text("output"), model: text("model"), usage: { input_tokens: 900, output_tokens: 80, calls: 2, cost: "0.0101" }, output_key: text("key") };
  return { conversation_id: id, turn: 2, tree: node([], "root", "sequential", "waiting", { run: "conversation-x/turn-2/" + text("run"), agents: [
    node([0], "both", "parallel", "done", { ...done, agents: [node([0, 0], "left", "llm", "done", done), node([0, 1], "right", "a2a", "failed", done)] }),
    node([1], "polish", "loop", "waiting", { iteration: 2, max_iterations: 4, agents: [node([1, 0], "writer", "llm", "waiting", { approvals: [uuid(0)] }), node([1, 1], "critic", "llm", "pending")] }),
    node([2], "end", "llm", "skipped"),
  ] }) };
}

function eventsOf(text, approvals) {
  const custom = (name, value) => ({ type: "CUSTOM", name: "agent-stop-and-go." + name, value });
  const message = (n, role, content, name) => [{ type: "TEXT_MESSAGE_START", messageId: n, role, name }, { type: "TEXT_MESSAGE_CONTENT", messageId: n, delta: content }, { type: "TEXT_MESSAGE_END", messageId: n }];
  const call = (n, result) => [
    { type: "TOOL_CALL_START", toolCallId: n, toolCallName: text("tool") }, { type: "TOOL_CALL_ARGS", toolCallId: n, delta: JSON.stringify({ [text("name")]: text("argument") }) },
    { type: "TOOL_CALL_END", toolCallId: n }, ...(result ? [{ type: "TOOL_CALL_RESULT", messageId: n + "r", toolCallId: n, content: text("result"), role: "tool", metadata: { "agent-stop-and-go": result } }] : []),
  ];
  const pending = approvals.filter((a) => !a.decision);
  return [
    { type: "RUN_STARTED", threadId: id, runId: "r" },
    { type: "STATE_SNAPSHOT", snapshot: { "agent-stop-and-go": { status: "waiting_approval", model: text("model"), title: text("shared title"), tree: treeOf(text), usage: { input_tokens: 1234, output_tokens: 99, cost: "0.0123" }, pending_approvals: pending.map((a) => ({ uuid: a.uuid, tool: a.tool_name, reason: a.reason, description: a.description, created_at: at })) } } },
    ...message("m1", "user", text("user")), { type: "REASONING_MESSAGE_START", messageId: "t1" }, { type: "REASONING_MESSAGE_CONTENT", messageId: "t1", delta: text("thought") },
    ...message("m2", "assistant", text("reply") + "\n\n# " + text("heading") + "\n\n```html\n" + text("code") + "\n```\n\n- [ ] " + text("item") + "\n\n| " + text("cell").replaceAll("|", "") + " |\n|---|\n| b |", text("node")),
    ...call("c1", {}), ...call("c2", { isError: true, note: text("note"), media: [{ mimeType: "image/png", size: 9, sha256: "ab", name: text("media") }, { mimeType: text("type"), size: 9, sha256: "javascript:x", name: text("file") }] }), ...call("c3"),
    custom("notice", { id: "n1", text: text("notice"), node: text("node"), at }),
    ...approvals.map((a, n) => custom("notice", { id: "a" + n, text: text("announcement"), uuid: a.uuid, at })),
    ...approvals.filter((a) => a.decision).map((a, n) => custom("decision", { id: "d" + n, text: text("decision"), at, ...a.decision })),
    custom("decision", { id: "d9", text: "x", at, uuid: uuid(60), tool: text("tool"), decision: "terminated", by: text("operator"), decided_at: at }),
    { type: "STEP_STARTED", stepName: text("step") }, custom("attempt", { text: text("attempt"), attempt: 2 }),
    { type: "RUN_FINISHED", threadId: id, runId: "r", outcome: { type: "interrupt" } },
  ];
}
