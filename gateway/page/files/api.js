// Requests to the REST API, and their failures in words.
import { parse, print } from "./exact.js";
import { address, proofFor, revive } from "./session.js";
import { toolProof } from "./tools.js";
export { address };

// randomID works on pages without TLS, too, where crypto.randomUUID does not.
export const randomID = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

// Failure is a reply that is an error, or none at all: status 0.
export class Failure extends Error {
  constructor(status, body = {}) {
    super(inWords(status, body.error));
    this.status = status;
    this.body = body;
  }
  // transient tells that the same request may succeed later.
  get transient() { return [0, 429, 502, 503, 504].includes(this.status); }
}

// inWords says what happened and what to do.
function inWords(status, error = "") {
  const because = error ? ` The agent says: ${error}` : "";
  switch (status) {
    case 0: return "The agent cannot be reached. Check your network connection and whether the agent runs.";
    case 401: return "You are not logged in, or your login has ended. Log in and try again; what you typed is kept." + because;
    case 403: return "You are not allowed to do this. Ask those who run the agent for the permission." + because;
    case 404: return "This does not exist, or no longer." + because;
    case 410: return "This was deleted. Nothing of it can be read any more." + because;
    case 413: return "This is too long for the agent. Shorten it." + because;
    case 421: return "The agent does not know the name in the address bar. Those who run it can add it to allowed_hosts." + because;
    case 429: return "Too many requests wait already. Try again in a moment." + because;
    case 502: case 503: case 504: return "The agent does not answer at the moment. Nothing is lost; try again soon." + because;
    case 507: return "The agent's disk is full. Nothing is lost; tell those who run it." + because;
  }
  return error || `The agent answered with the status ${status}.`;
}

// session is the X-Session-ID of this browser, to which Idempotency-Keys belong.
const session = (() => {
  const made = "page-" + randomID().slice(0, 16);
  try {
    const kept = localStorage.getItem("session") ?? made;
    localStorage.setItem("session", kept);
    return kept;
  } catch { return made; }
})();

// own are the headers of a request that changes something.
const own = async (method) => ({ "X-Session-ID": session, ...await proofFor(method), ...await toolProof(method) });

async function request(path, { headers, ...options }) {
  try {
    return await fetch(address(path), { ...options, headers: { Accept: "application/json", ...options.method && await own(options.method), ...headers } });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Failure(0);
  }
}

// fetchReply returns a reply that is no error.
export async function fetchReply(path, options = {}) {
  let reply = await request(path, options);
  if (reply.status === 401 && await revive()) reply = await request(path, options);
  if (reply.ok) return reply;
  throw new Failure(reply.status, await reply.json().catch(() => ({})));
}

const patience = 60_000; // milliseconds that a read may take: a connection may be gone without a word

const get = async (path) => (await fetchReply(path, { signal: AbortSignal.timeout(patience) })).json();

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// change sends a request that is carried out once, however often it is sent. Numerals in it are sent
// as they were written.
async function change(method, path, body, key = randomID()) {
  for (let attempt = 1; ; attempt++) {
    try {
      const reply = await fetchReply(path, {
        method, body: print(body),
        headers: { "Content-Type": "application/json", "Idempotency-Key": key, Prefer: "respond-async" },
      });
      return await reply.json();
    } catch (e) {
      if (!e.transient || attempt === 6) throw e;
      await pause(300 * 2 ** attempt);
    }
  }
}

const post = (path, body, key) => change("POST", path, body, key);

const id = encodeURIComponent;

export const about = () => get("?");
export const tools = () => get("tools");
export const me = () => get("me");
export const conversations = (cursor, words) => get(`conversations?limit=${words ? 200 : 50}${words ? "&q=" + id(words) : ""}${cursor ? "&cursor=" + id(cursor) : ""}`);
// start is the request that begins a conversation and is answered with the events of its turn.
export const start = (message, choice) => ["conversations", {
  method: "POST", body: JSON.stringify({ message, ...choice }), headers: { "Content-Type": "application/json", "Idempotency-Key": randomID() },
}];
export const send = (conversation, message, key, choice) => post(`conversations/${id(conversation)}/messages`, { message, ...choice }, key);
export const command = (text) => post("commands", text);
export const cancel = (conversation, by) => post(`conversations/${id(conversation)}/cancel`, by ? { by } : {});
export const rename = (conversation, title, by) => change("PATCH", `conversations/${id(conversation)}`, by ? { title, by } : { title });
// remove deletes a conversation; force also one with an approval that waits.
export const remove = (conversation, force) => change("DELETE", `conversations/${id(conversation)}${force ? "?force=true" : ""}`);
export const exists = (conversation) => get(`conversations/${id(conversation)}`);
export const decide = (uuid, decision, key) => post(`approvals/${id(uuid)}`, decision, key);
// waiting reads a short page first, which the document already requests while the script loads, and then long ones.
export const waiting = (cursor) => get(cursor ? "approvals?limit=200&cursor=" + id(cursor) : "approvals?limit=20");
export const later = (uuid, when) => post(`approvals/${id(uuid)}/later`, when);
export const loggedIn = (uuid, key) => post(`approvals/${id(uuid)}/login`, {}, key);
export const tree = (conversation) => get(`conversations/${id(conversation)}/tree`);
export const exportURL = (conversation, format) => address(`conversations/${id(conversation)}/export?format=${format}`);
export const mediaURL = (conversation, sha256) => address(`conversations/${id(conversation)}/media/${id(sha256)}`);

// approval returns an approval with its arguments, and those that were approved instead, as they were written.
export async function approval(uuid) {
  const text = await (await fetchReply(`approvals/${id(uuid)}`)).text();
  const state = JSON.parse(text);
  const whole = parse(text), exact = whole.get("approval"), revision = state.decision?.revision;
  if (revision) revision.exact = whole.get("decision").get("revision").get("arguments");
  state.approval.exact = exact.get("tool_args");
  if (state.approval.origin) state.approval.origin.exact = exact.get("origin").get("arguments");
  return state;
}
