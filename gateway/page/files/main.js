// Starts the page: the frame around the views, and when it is drawn.
import { html, nothing, render, repeat } from "./html.js";
import * as api from "./api.js";
import { login, whoAmI } from "./login.js";
import { load, whenLoaded } from "./markdown.js";
import { reveal } from "./reveal.js";
import { Router } from "./router.js";
import { returned, session } from "./session.js";
import { Sidebar } from "./sidebar.js";
import { returnedForTools, toolSession } from "./tools.js";
import { Waiting } from "./waiting.js";

const root = document.querySelector("#app");
root.replaceChildren(); // what is there without JavaScript
const live = document.querySelector("#live");
const agentName = document.title;
let drawn = true; // whether a drawing is due, or not to be begun yet

// page is what all views share.
const page = {
  about: undefined, offer: undefined, // what the agent says of itself, once it is read
  changed, announce: (text) => { live.textContent = text; },
  agent: () => page.about?.name ?? agentName,
  begun: (id) => { router.moved("#/c/" + id); sidebar.refresh(); },
  workflow: (id) => { // the address of its page in the Temporal Web UI, if there is one
    const all = page.about?.links.temporal_workflows;
    return /^https?:/.test(all) ? all + encodeURIComponent(id) : undefined;
  },
  titleOf: (id) => sidebar.titleOf(id),
  renamed: (id, title) => sidebar.rename(id, title),
  removed: (id) => { // a conversation was deleted here
    sidebar.remove(id);
    tabs.postMessage({ removed: id });
  },
  paused: () => { setTimeout(() => sidebar.refresh(), 500); }, // the list lags a little
};
page.waiting = new Waiting(page);
const router = new Router(page), sidebar = new Sidebar(page);

// changed has the page drawn again.
function changed() {
  if (drawn) return;
  drawn = true;
  (document.hidden ? setTimeout : requestAnimationFrame)(draw);
}

function route() {
  if (!router.open(location.hash)) return;
  changed();
  requestAnimationFrame(() => document.querySelector(router.current.focus ?? "main h2")?.focus({ preventScroll: true }));
}

function draw() {
  drawn = false;
  const { current } = router;
  const box = document.scrollingElement;
  const atEnd = current.follows && box.scrollHeight - box.scrollTop - box.clientHeight < 120;
  render(frame(current), root);
  if (document.activeElement === document.body) refocus();
  if (atEnd) box.scrollTop = box.scrollHeight;
  document.title = (current.waits ? `(${current.waits}) ` : "") + (current.title ? current.title + " · " : "") + agentName;
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

function frame(current) {
  return html`
    <a class="skip" href="#main" @click=${(e) => { e.preventDefault(); (document.querySelector("#message") ?? document.querySelector("main")).focus(); }}>Skip to the content</a>
    <header class="top"><button type="button" class="plain menu" aria-expanded=${sidebar.isOpen ? "true" : "false"} aria-controls="conversations"
        @click=${() => sidebar.toggle()}>Menu${sidebar.waits ? html` <span class="count">${sidebar.waits}<span class="unseen"> wait for a decision</span></span>` : nothing}</button>
      <h1>${reveal(agentName)}</h1></header>
    ${sidebar.view(location.hash, page.about, [whoAmI(), toolSession()])}
    <main id="main" tabindex="-1">${login()}${session.needed && !session.me ? nothing : repeat([current], (c) => c, (c) => c.view())}</main>`;
}

// What one tab deletes is gone in all of them.
const tabs = new BroadcastChannel("conversations " + api.address(""));
tabs.onmessage = ({ data }) => {
  sidebar.remove(data.removed);
  if (router.current.id === data.removed) router.current.check?.();
};

// The list is read again from time to time, and soon after something happened here.
const patience = 10_000;
setInterval(() => { if (!document.hidden) sidebar.refresh(); }, patience);
setInterval(changed, 30_000); // points in time grow older

// A browser opens few connections to one server, so a tab that nobody looks at gives its own back.
let hidden, asleep = false;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(() => { router.current.sleep?.(); asleep = true; }, 60_000);
  else {
    if (asleep) router.current.wake?.();
    asleep = false;
    sidebar.refresh();
  }
});

// A login begins and ends while the page is shown.
let wasNeeded = false;
session.changed = () => {
  if (session.needed && !wasNeeded) page.announce("Log in to go on");
  if (wasNeeded && !session.needed) read();
  wasNeeded = session.needed;
  changed();
};

// begin draws for the first time. An inbox waits a moment for what it shows, and the rest of the
// page waits for the inbox.
async function begin() {
  if (location.hash === "#/inbox") await Promise.race([page.waiting.begun, api.pause(50)]);
  draw();
  requestAnimationFrame(() => setTimeout(read));
}

function read() {
  load();
  sidebar.refresh();
  api.about().then((a) => { page.about = a; changed(); }).catch(() => {});
  api.tools().then((o) => { page.offer = o; changed(); }).catch(() => {});
}

// Keys are for the view, unless they are typed into a field or mean something to the browser.
addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || !router.current.key) return;
  if (e.target.closest("input:not([type=checkbox]), form input, textarea, select, [contenteditable]") && e.key !== "Escape") return;
  if (router.current.key(e) !== false) e.preventDefault();
});

// Files are dropped anywhere, and never open in the place of the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (e) => {
  if (!e.dataTransfer.types.includes("Files")) return;
  e.preventDefault();
  if (type === "drop") router.current.drop?.(e);
});

addEventListener("scroll", () => router.current.scrolled?.(), { passive: true });
whenLoaded(changed);
returned();
returnedForTools(changed);
addEventListener("hashchange", route);
route();
begin();
