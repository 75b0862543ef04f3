// The entries of a conversation: texts, calls, notices.
import { html, nothing } from "./html.js";
import { mediaURL } from "./api.js";
import { argumentTable, textBlock } from "./arguments.js";
import { parse } from "./exact.js";
import { markdown } from "./markdown.js";
import { reveal } from "./reveal.js";
import { verdict } from "./words.js";

// entryView shows an entry. in_ is the conversation: {id, running, cardOf}.
export function entryView(e, in_) {
  switch (e.kind) {
    case "user": return html`<article class="message user" aria-label="Message"><div class="bubble">${reveal(e.text)}</div>${(e.media ?? []).map((m) => mediaView(m, in_.id, "Image of the message: "))}</article>`;
    case "text": return html`<article class="message agent" aria-label=${e.node ? "Reply of " + e.node : "Reply"}>
      ${e.node ? html`<p class="node">${reveal(e.node)}</p>` : nothing}${markdown(e.text)}</article>`;
    case "thought": return html`<details class="fold"><summary>Thoughts of the model</summary>${textBlock(e.text, "the thoughts")}</details>`;
    case "call": return callView(e, in_);
    case "notice": return e.uuid ? in_.cardOf(e.uuid).view() : html`<p class="notice">${reveal(e.text)}</p>`;
    case "decision": return html`<p class="notice">${reveal(verdict(e.value))}: <code>${reveal(e.value.tool)}</code></p>`;
  }
}

function callView(e, in_) {
  const state = e.rejected ? "rejected" : e.missing ? "not run" : e.result === undefined ? (in_.running ? "running" : "waiting") : e.isError ? "failed" : "done";
  return html`<details class="fold call"><summary><span class=${"dot " + state.replace(" ", "-")} aria-hidden="true"></span>
      <code>${reveal(e.tool)}</code> <span class="quiet">${state}</span></summary>
    <h3>Arguments</h3>${argumentsOf(e.text)}
    ${e.result === undefined ? nothing : html`<h3>${e.isError && !e.missing ? "Error" : "Result"}</h3>
      ${e.result ? textBlock(e.result, "the result") : html`<p class="quiet">Nothing was returned.</p>`}
      ${e.note ? html`<p class="notice">${reveal(e.note)}</p>` : nothing}`}</details>
    ${(e.media ?? []).map((m) => mediaView(m, in_.id))}`;
}

// argumentsOf shows arguments, also while they are being written.
function argumentsOf(text) {
  try { return argumentTable(parse(text)); } catch { return textBlock(text, "the arguments"); }
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function mediaView(m, conversation, from = "Image that the tool returned: ") {
  const url = mediaURL(conversation, m.sha256);
  const name = m.name || `${m.mimeType}, ${m.size.toLocaleString("en")} bytes`;
  if (images.includes(m.mimeType)) return html`<figure><img src=${url} alt=${from + name} loading="lazy"><figcaption>${reveal(name)}</figcaption></figure>`;
  if (m.mimeType.startsWith("audio/")) return html`<figure><audio controls src=${url}></audio><figcaption>${reveal(name)}</figcaption></figure>`;
  return html`<p class="file"><a href=${url} download>${reveal(name)}</a></p>`;
}
