// The login for tools, where a web process serves the page: its token goes to the agent with what this
// browser sends. Who calls the agent is another login, in session.js.
import { html, nothing } from "./html.js";
import { reveal } from "./reveal.js";
import { address } from "./session.js";

const at = document.querySelector('meta[name="tool-login"]')?.content; // the host of the login server
let state = {}; // as GET api/session has it
let until = 0; // when the token should be renewed
let changed = () => {};
const tabs = new BroadcastChannel("tools " + address(""));

function keep(s) {
  state = s;
  until = Date.now() + (s.fresh_for ?? 0) * 1000;
  changed();
}

async function call(path, post) {
  const reply = await fetch(address(path), { cache: "no-store", ...post && { method: "POST", headers: proof() } });
  if (reply.ok) keep(await reply.json());
  else if (reply.status < 500) keep({});
}

const read = () => call("api/session").catch(() => {});
const begun = at ? read() : undefined;
const proof = () => state.csrf_token ? { "X-Tool-Session": state.csrf_token } : {};
const stale = () => state.renewable && Date.now() >= until;

// One tab at a time renews: a server takes a refresh token once.
async function renew() {
  await read();
  if (stale()) await call("login/renewal", true).catch(() => {});
}

// toolProof returns the headers with which a request that sends something gets the token.
export async function toolProof(method) {
  if (!at || !method || method === "GET") return {};
  await begun;
  if (stale()) await (navigator.locks ? navigator.locks.request("tools " + address(""), renew) : renew());
  return proof();
}

// again sends a message again after the login: in this tab, or in the page that comes back instead of it.
let again;
const key = "again";

function logIn(conversation, text, send) {
  const to = (back) => address("login?return=" + encodeURIComponent(back));
  again = () => send(text);
  if (open(to("#/logged-in-for-tools"), "_blank", "popup,width=480,height=640")) return;
  try { sessionStorage.setItem(key, JSON.stringify({ conversation, text })); } catch { /* a person sends it */ }
  location.href = to("#/c/" + conversation);
}

// unanswered returns, once, the message for which the page was left to log in.
export async function unanswered(conversation) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key));
    if (kept?.conversation !== conversation) return "";
    sessionStorage.removeItem(key);
    await begun;
    return state.authenticated ? kept.text : "";
  } catch { return ""; }
}

tabs.onmessage = async () => {
  await read();
  const goOn = state.authenticated && again;
  if (!goOn) return;
  again = undefined;
  goOn();
};

// returnedForTools closes a window that was opened only to log in.
export function returnedForTools(redraw) {
  changed = redraw;
  if (location.hash !== "#/logged-in-for-tools") return;
  tabs.postMessage("changed");
  close();
  history.replaceState(null, "", address(""));
}

async function logOut() {
  await call("logout", true).catch(() => {});
  await read();
  tabs.postMessage("changed");
}

// toolLogin asks to log in for a server. After it the message is sent again, unchanged.
export function toolLogin(server, conversation, text, send) {
  if (!at) return nothing;
  return html`<section class="login tools" aria-labelledby="tool-login">
    <h2 id="tool-login">Log in for ${reveal(server)}</h2>
    <p>${state.authenticated ? "It has not accepted your login. Log in as somebody who may use it, or ask those who run it." : "It wants to know who you are."} Your message is sent again after the login.</p>
    <p><button type="button" class="primary" @click=${() => logIn(conversation, text, send)}>Log in at ${at}</button></p></section>`;
}

// toolSession says that there is a login for tools, and ends it.
export const toolSession = () => state.authenticated || state.renewable
  ? html`<p class="me">Logged in for tools <button type="button" class="plain" aria-label="Log out of the tools" @click=${logOut}>Log out</button></p>` : nothing;
