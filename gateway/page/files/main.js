// Starts the page: which conversation the address names, and when it is drawn.
import { html, nothing, render, repeat } from "./html.js";
import * as api from "./api.js";
import { Conversation } from "./conversation.js";
import { reveal } from "./reveal.js";
import { Sidebar } from "./sidebar.js";

const root = document.querySelector("#app");
root.replaceChildren(); // what is there without JavaScript
const live = document.querySelector("#live");
const agentName = document.title;
let about, offer, current, drawn = false;

const announce = (text) => { live.textContent = text; };

function changed() {
  if (drawn) return;
  drawn = true;
  (document.hidden ? setTimeout : requestAnimationFrame)(draw);
}

const sidebar = new Sidebar({ changed });

function route() {
  const id = /^#\/c\/([\w-]+)/.exec(location.hash)?.[1];
  if (current && current.id === id && id) return;
  current?.close();
  current = new Conversation(id, { changed, announce, begun, paused, agent: () => about?.name ?? agentName });
  changed();
  requestAnimationFrame(() => document.querySelector("#message")?.focus({ preventScroll: true }));
}

// begun gives a conversation that has begun its address.
function begun(id) {
  history.replaceState(null, "", "#/c/" + id);
  sidebar.refresh();
}

// paused reads the list again when a turn has ended or waits: the list lags a little.
function paused() { setTimeout(() => sidebar.refresh(), 500); }

function draw() {
  drawn = false;
  const box = document.scrollingElement;
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 120;
  render(view(), root);
  if (document.activeElement === document.body) refocus();
  if (atEnd) box.scrollTop = box.scrollHeight;
  const waits = current.waiting.length;
  document.title = (waits ? `(${waits}) ` : "") + (current.title ? current.title + " · " : "") + agentName;
}

// refocus moves the focus from the form of a card that is gone to what came in its place.
function refocus() {
  const card = inCard && document.getElementById(inCard);
  if (!card || card.matches(".waiting")) return;
  inCard = "";
  card.querySelector("summary").focus({ preventScroll: true });
}
let inCard = ""; // the card whose form had the focus last
addEventListener("focusin", (e) => { inCard = e.target.closest(".card.waiting")?.id ?? ""; });

function view() {
  return html`
    <a class="skip" href="#message" @click=${(e) => { e.preventDefault(); document.querySelector("#message")?.focus(); }}>Skip to the input</a>
    <header class="top"><button type="button" class="plain menu" aria-expanded=${sidebar.isOpen ? "true" : "false"} aria-controls="conversations"
        @click=${() => sidebar.toggle()}>Conversations${sidebar.waiting ? html` <span class="count">${sidebar.waiting}<span class="unseen"> wait for a decision</span></span>` : nothing}</button>
      <h1>${reveal(agentName)}</h1></header>
    ${sidebar.view(current.id, about)}
    <main>${current.id || current.unsent.length ? html`<h2 class="unseen">${current.title || "Conversation"}</h2>` : welcome()}${repeat([current], (c) => c, (c) => c.view())}</main>`;
}

const firstSentence = (text) => {
  const sentence = text.split(/\n|(?<=\.) /)[0];
  return sentence.length > 200 ? sentence.slice(0, 200) + "…" : sentence;
};

function welcome() {
  const asks = offer?.tools.filter((t) => t.approval?.asks ?? t.destructiveHint) ?? [];
  const runs = offer?.tools.filter((t) => !(t.approval?.asks ?? t.destructiveHint)) ?? [];
  const names = (list) => html`<ul class="tools">${list.map((t) => html`<li><code>${reveal(t.name)}</code> ${reveal(firstSentence(t.description))}</li>`)}</ul>`;
  return html`<section class="welcome"><h2>What can I do for you?</h2>
    ${about?.description ? html`<p class="description">${reveal(about.description)}</p>` : nothing}
    ${asks.length ? html`<h3>Asks a person before it uses</h3>${names(asks)}` : nothing}
    ${runs.length ? html`<h3>Uses at once</h3>${names(runs)}` : nothing}</section>`;
}

// The list is read again from time to time, and soon after something happened here.
const patience = 10_000;
setInterval(() => { if (!document.hidden) sidebar.refresh(); }, patience);
setInterval(changed, 30_000); // points in time grow older

// A browser opens few connections to one server, so a tab that nobody looks at gives its own back.
let hidden;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(() => { current.close(); hidden = undefined; current.asleep = true; }, 60_000);
  else {
    if (current.asleep && (current.id || current.unsent.length)) current.open();
    current.asleep = false;
    sidebar.refresh();
  }
});

addEventListener("hashchange", route);
route();
sidebar.refresh();
api.about().then((a) => { about = a; changed(); }).catch(() => {});
api.tools().then((o) => { offer = o; changed(); }).catch(() => {});
