// A run: the nodes of the conversation's last turn with their states, times and costs, live.
import { html, nothing, repeat } from "./html.js";
import { textBlock } from "./arguments.js";
import { follow } from "./events.js";
import { reveal } from "./reveal.js";
import { apply } from "./shared.js";
import { fullTime, span } from "./time.js";

const number = (n) => n.toLocaleString("en");
const words = {
  pending: "not started", running: "running", waiting: "waits for a decision", done: "done", failed: "failed", skipped: "skipped", rejected: "rejected", cancelled: "cancelled",
};
const kinds = { sequential: "one after the other", parallel: "at the same time", loop: "again and again", llm: "model", a2a: "another agent" };

export class Run {
  focus = ".run h2"; title = "Run";
  shared = { status: "active", pending_approvals: [], tree: null, usage: {} };
  known = false; running = false; failure;
  #place = { conversation: "", position: "" };
  #stream;
  #open = new Set(); // paths of the nodes whose details are shown

  constructor(page, id) {
    Object.assign(this, { page, id });
    this.#place.conversation = id;
    this.wake();
  }

  wake() {
    this.close();
    this.#stream = new AbortController();
    this.timer = setInterval(() => { if (this.running) this.page.changed(); }, 1000);
    follow(this.#place, {
      signal: this.#stream.signal, take: (e) => this.#take(e), ended: () => this.shared.status === "completed", restart: () => {},
      note: (state) => { if (state instanceof Error) this.failure = state; this.page.changed(); },
    });
  }

  close() {
    this.#stream?.abort();
    clearInterval(this.timer);
  }
  sleep() { this.close(); }
  get waits() { return this.shared.pending_approvals.length; }

  #take(e) {
    this.shared = apply(this.shared, e);
    if (e.type === "STATE_SNAPSHOT" || e.type === "STATE_DELTA") this.known = true;
    if (e.type === "RUN_STARTED") this.running = true;
    if (e.type === "RUN_FINISHED" || e.type === "RUN_ERROR") this.running = false;
    this.page.changed();
  }

  // root is the tree, or the one node of an agent without one.
  get root() {
    const { tree, status, usage, model, pending_approvals: waiting } = this.shared;
    return tree?.tree ?? {
      name: this.page.agent(), type: "llm", path: [], status: waiting.length ? "waiting" : this.running ? "running" : status === "completed" || this.known ? "done" : "pending",
      usage, model, approvals: waiting.map((a) => a.uuid),
    };
  }

  view() {
    const { root } = this, from = new Date(root.started_at ?? 0).getTime(), to = root.ended_at ? new Date(root.ended_at).getTime() : Date.now();
    const time = root.started_at ? { from, length: Math.max(1, to - from) } : undefined;
    const temporal = this.page.workflow("conversation-" + this.id);
    return html`<section class="inbox run"><h2 tabindex="-1">Run${this.shared.tree ? html` <span class="quiet">of turn ${this.shared.tree.turn}</span>` : nothing}</h2>
      <p class="quiet"><a href=${"#/c/" + this.id}>The conversation</a>${temporal ? html` · <a href=${temporal} target="_blank" rel="noopener">In the Temporal Web UI</a>` : nothing}</p>
      ${this.failure ? html`<p class="failure" role="alert">${this.failure.message}</p>` : nothing}
      ${this.known ? html`
        <dl class="totals">${total("State", words[root.status] ?? root.status)}${total("Time", root.started_at ? span(to - from) : "")}
          ${total("Tokens", tokens(root.usage) || tokens(this.shared.usage))}${total("Cost", root.usage?.cost ?? this.shared.usage?.cost)}</dl>
        <ul class="tree">${this.#node(root, time)}</ul>
        <details class="fold"><summary>As text</summary><pre class="value" tabindex="0">${reveal(this.#text(root).join("\n"))}</pre></details>` : this.failure ? nothing : html`<p class="status">Reading the run…</p>`}
    </section>`;
  }

  #node(n, time) {
    const path = n.path.join("."), waits = (n.approvals ?? []).map((uuid) => [uuid, this.shared.pending_approvals.find((a) => a.uuid === uuid)]);
    return html`<li><details class=${"stage " + n.status} ?open=${this.#open.has(path)} @toggle=${(e) => { if (e.target === e.currentTarget) this.#open[e.target.open ? "add" : "delete"](path); }}>
        <summary><span class=${"dot " + n.status} aria-hidden="true"></span><strong>${reveal(n.name)}</strong> <span class="quiet">${kinds[n.type] ?? n.type}${n.iteration ? `, ${n.iteration} of ${n.max_iterations ?? "?"}` : ""}</span>
          <span class="state">${words[n.status] ?? n.status}</span><span class="quiet figures">${figures(n)}</span>${bar(n, time)}</summary>
        ${this.#details(n)}</details>
      ${waits.map(([uuid, a]) => html`<p class="waits"><a href=${"#/a/" + uuid}>${a ? reveal(a.tool) : "An approval"} waits for a decision</a></p>`)}
      ${n.agents?.length ? html`<ul>${repeat(n.agents, (x) => x.path.join("."), (x) => this.#node(x, time))}</ul>` : nothing}</li>`;
  }

  #details(n) {
    const row = (name, value) => value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : nothing;
    const temporal = n.run && this.page.workflow(n.run);
    return html`<dl class="facts">${row("Started", n.started_at && fullTime(n.started_at))}${row("Ended", n.ended_at && fullTime(n.ended_at))}${row("Time", lasted(n))}
      ${row("Model", n.model && reveal(n.model))}${row("Tokens", tokens(n.usage))}${row("Cost", n.usage?.cost)}${row("Calls", n.usage?.calls && `${number(n.usage.calls)} of the model`)}
      ${row("Output in", n.output_key && html`<code>${reveal(n.output_key)}</code>`)}${row("Workflow", n.run && html`${temporal ? html`<a href=${temporal} target="_blank" rel="noopener"><code>${n.run}</code></a>` : html`<code>${n.run}</code>`}`)}</dl>
      ${n.output ? html`<h3>Output</h3>${textBlock(n.output, "the output")}` : nothing}`;
  }

  #text(n, indent = "") {
    const waits = (n.approvals ?? []).map((uuid) => `${indent}  waits: approval ${uuid}`);
    return [`${indent}${n.name} (${kinds[n.type] ?? n.type}): ${[words[n.status] ?? n.status, figures(n), n.iteration ? `iteration ${n.iteration}` : ""].filter(Boolean).join(", ")}`,
      ...waits, ...(n.agents ?? []).flatMap((x) => this.#text(x, indent + "  "))];
  }
}

const total = (name, value) => value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : nothing;

const tokens = (u) => u?.input_tokens || u?.output_tokens ? `${number(u.input_tokens ?? 0)} in, ${number(u.output_tokens ?? 0)} out` : "";

const lasted = (n) => n.started_at ? span(n.duration_ms ?? Date.now() - new Date(n.started_at)) : "";

const figures = (n) => [lasted(n), tokens(n.usage) && `${number((n.usage.input_tokens ?? 0) + (n.usage.output_tokens ?? 0))} tokens`, n.usage?.cost].filter(Boolean).join(" · ");

// bar shows when a node ran within the time of the whole.
function bar(n, time) {
  if (!time || !n.started_at) return nothing;
  const start = (new Date(n.started_at) - time.from) / time.length * 100, width = ((n.ended_at ? new Date(n.ended_at) : Date.now()) - new Date(n.started_at)) / time.length * 100;
  return html`<svg class="when" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="2"></rect><rect class=${n.status} x=${Math.max(0, Math.min(start, 99.5))} width=${Math.max(.5, Math.min(width, 100 - start))} height="2"></rect></svg>`;
}
