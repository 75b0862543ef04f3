// Event streams of conversations, over as many connections as it takes.
import { Failure, fetchReply, pause } from "./api.js";
import { loggedIn, session } from "./session.js";

const silence = 60_000; // a live connection says something at least four times as often

// follow calls take with each event of a conversation until it is aborted. It begins at
// place.position of place.conversation, or with the request place.first, whose first event names
// the conversation, and keeps the place up to date. note is called with "live" and "lost"; at the
// end with a Failure after which it gives up or, if ended tells that nothing follows, "ended".
export async function follow(place, { take, note, restart, ended, signal }) {
  for (let failed = 0; !signal.aborted; failed++) {
    const known = place.conversation;
    try {
      await connect(place, signal, () => { failed = 0; note("live"); }, (event, at) => {
        place.position = at || place.position;
        if (event.type === "RUN_STARTED") place.conversation = event.threadId;
        take(event);
      });
    } catch (e) {
      if (signal.aborted) return;
      if (e instanceof Failure && e.status === 400 && place.position) { // the position is from another time
        place.position = "";
        restart();
        continue;
      }
      if (e.status === 401 && session.needed) {
        await loggedIn(signal);
        failed = -1;
        continue;
      }
      if (e instanceof Failure && !e.transient && e.status !== 500) return note(e);
    }
    if (signal.aborted) return;
    if (ended()) return note("ended");
    if (place.conversation !== known) { // the first turn has ended
      failed = -1;
      continue;
    }
    if (failed) note("lost");
    await pause(Math.min(250 * 2 ** failed, 5000));
  }
}

// request is the next one: a first message is repeated until it has shown an event.
function request({ conversation, position, first }) {
  if (!conversation) return first;
  return [`conversations/${encodeURIComponent(conversation)}/events` + (position ? "" : "?snapshot=false"), { headers: position ? { "Last-Event-ID": position } : {} }];
}

async function connect(place, signal, opened, take) {
  const connection = new AbortController();
  const leave = () => connection.abort();
  signal.addEventListener("abort", leave);
  let timer = setTimeout(leave, silence);
  try {
    const [path, options] = request(place);
    const reply = await fetchReply(path, { ...options, headers: { ...options.headers, Accept: "text/event-stream" }, signal: connection.signal, cache: "no-store" });
    opened();
    const read = reader(take);
    const bytes = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await bytes.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(leave, silence);
      read(value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    leave();
  }
}

// reader takes the text of a stream in pieces.
function reader(take) {
  let rest = "", id = "", data = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("id:")) id = line.slice(3).trim();
      else if (line.startsWith("data:")) data += line.slice(5);
      else if (line.trim() === "" && data) {
        take(JSON.parse(data), id);
        id = data = "";
      }
    }
  };
}
