// The session of this browser, where the agent wants to know who calls: its token, its renewal, its end.

const root = new URL(".", location.href.split("#")[0]);

// address returns the URL of a part of the API, also behind a proxy with a path prefix.
export const address = (path) => new URL(path, root).href;

// session is what the page knows of its login. needed tells that a person must log in to go on.
export const session = { needed: false, methods: [], me: undefined, failure: "", changed: () => {} };

let state = {}; // as GET auth/session has it
let waiting = []; // those who go on after the login
const tabs = new BroadcastChannel("session " + root.pathname);

async function call(path, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json", ...proof() }, body: JSON.stringify(body) };
  const reply = await fetch(address(path), { cache: "no-store", ...options });
  const answer = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(answer.error ?? "The agent cannot be reached.");
  return answer;
}

const read = async () => { state = await call("auth/session").catch(() => ({})); };
const begun = read();

// proof returns the headers of a request that changes something.
const proof = () => state.csrf_token ? { "X-CSRF-Token": state.csrf_token } : {};
export async function proofFor(method) {
  if (!method || method === "GET") return {};
  await begun;
  return proof();
}

// One tab at a time renews: a provider takes a refresh token once.
const alone = (f) => navigator.locks ? navigator.locks.request("session " + root.pathname, f) : f();

// revive reports whether a request that was refused may be tried again. If not, a person must log in.
export async function revive() {
  const before = state.csrf_token;
  const active = await alone(async () => {
    await read();
    if (!state.active && state.renewable) state = await call("auth/session/renewal", {}).catch(() => ({}));
    return state.active;
  });
  if (active) {
    if (before !== state.csrf_token) greet();
    return true;
  }
  if (!session.methods.length) session.methods = (await call("auth/methods").catch(() => ({ methods: [] }))).methods.filter((m) => m.login);
  session.needed = session.methods.length > 0;
  session.changed();
  return false;
}

// loggedIn is done when somebody has logged in, or the signal aborts.
export const loggedIn = (signal) => new Promise((done) => {
  waiting.push(done);
  signal.addEventListener("abort", done);
});

// greet goes on after a login. What is on the screen stays, unless it is somebody else's.
async function greet() {
  const me = await call("me").catch(() => ({}));
  if (!me.authenticated) return;
  if (session.me?.authenticated && (session.me.subject !== me.subject || session.me.issuer !== me.issuer)) return location.reload();
  Object.assign(session, { me, needed: false, failure: "" });
  for (const done of waiting.splice(0)) done();
  session.changed();
}

// atProvider leads to the provider: in a window of its own if there is something on the screen.
export function atProvider(issuer) {
  const to = (back) => address(`auth/login?issuer=${encodeURIComponent(issuer)}&return=${encodeURIComponent(back)}`);
  if (session.me && open(to("#/logged-in"), "_blank", "popup,width=480,height=640")) return;
  location.href = to(/^#\/[\w/-]*$/.test(location.hash) ? location.hash : "");
}

export async function withKey(key) {
  try {
    state = await call("auth/session", { key });
    await greet();
    tabs.postMessage("changed");
  } catch (e) {
    session.failure = e.message;
    session.changed();
  }
}

// logOut ends the session here and at the provider, and forgets what was typed.
export async function logOut() {
  const { location: next } = await call("auth/logout", {}).catch(() => ({}));
  try { localStorage.clear(); } catch { /* there is nothing */ }
  tabs.postMessage("changed");
  if (next) return location.assign(next);
  history.replaceState(null, "", root.href);
  location.reload();
}

export const canLogOut = () => Boolean(state.csrf_token);

tabs.onmessage = async () => {
  const was = state.active;
  await read();
  if (state.active) greet();
  else if (was) location.reload();
};

// returned closes a window that was opened only to log in.
export function returned() {
  if (location.hash !== "#/logged-in") return;
  tabs.postMessage("changed");
  close();
  history.replaceState(null, "", root.href);
}

begun.then(() => call("me")).then((me) => { session.me ??= me; session.changed(); }, () => {});
