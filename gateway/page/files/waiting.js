// The approvals that wait, of all conversations and agents that the reader may see.
import * as api from "./api.js";
import { allowsNotices, notify } from "./notices.js";
import { revealed } from "./reveal.js";
import * as words from "./words.js";

const soon = 4_000, seldom = 15_000, sweep = 30_000, lag = 60_000, moment = 50;

export class Waiting {
  items = []; loaded = false; failure;
  #begin; begun = new Promise((done) => { this.#begin = done; }); // when the first are known
  #known = new Set(); // UUIDs that were seen
  #done = new Map(); // when something was decided here, by UUID: the list lags
  #inbox; #readAt = 0; #sweptAt = 0; #reading = false;

  constructor(page) {
    this.page = page;
    this.refresh(true);
    setInterval(() => this.#tick(), 1000);
  }

  // watch has the list read often for an inbox, which hears of every read, until there is none.
  watch(inbox) {
    this.#inbox = inbox;
    if (inbox) this.refresh(true);
  }

  #tick() {
    const looks = this.#inbox && !document.hidden;
    if (document.hidden && !allowsNotices()) return;
    const now = Date.now();
    if (now - this.#readAt > (looks ? soon : seldom)) this.refresh(now - this.#sweptAt > sweep);
  }

  // refresh reads the newest, or all of them.
  async refresh(all) {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const read = [];
      for (let cursor = ""; ;) {
        const page = await api.waiting(cursor);
        read.push(...page.approvals);
        cursor = page.next_cursor;
        if (!cursor) this.#sweptAt = Date.now();
        this.#take(read, !cursor);
        if (!cursor || !all) break;
        if (!this.loaded) await api.pause(moment); // what is read is drawn first
      }
      this.failure = undefined;
    } catch (e) {
      this.failure = e;
      this.#begin();
    }
    this.#readAt = Date.now();
    this.#reading = false;
    this.#inbox?.refreshed();
    this.page.changed();
  }

  // take puts the newest approvals in the place of what was known of their time.
  #take(read, complete) {
    const now = Date.now();
    for (const [uuid, at] of this.#done) if (now - at > lag) this.#done.delete(uuid);
    const uuids = new Set(read.map((a) => a.uuid));
    const oldest = read.reduce((t, a) => a.created_at < t ? a.created_at : t, "~");
    const rest = complete ? [] : this.items.filter((a) => !uuids.has(a.uuid) && a.created_at <= oldest);
    this.items = [...read, ...rest].filter((a) => !this.#done.has(a.uuid)).sort((a, b) => a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0);
    const fresh = this.items.filter((a) => !this.#known.has(a.uuid));
    for (const a of fresh) this.#known.add(a.uuid);
    if (this.loaded) for (const a of fresh) notify(a.uuid, revealed(words.title(a)), revealed(words.asker(a)));
    this.loaded ||= complete;
    this.#begin();
    this.page.changed();
  }

  // remove forgets what was decided.
  remove(uuid) {
    this.#done.set(uuid, Date.now());
    this.items = this.items.filter((a) => a.uuid !== uuid);
  }

  // putOff keeps until when the reader put an approval off.
  putOff(uuid, until) {
    this.items = this.items.map((a) => a.uuid === uuid ? { ...a, deferred_until: until } : a);
  }
}

// count is how many wait and are not put off, undefined until that is known.
export const count = (waiting) => waiting.loaded ? waiting.items.filter((a) => !isPutOff(a)).length : undefined;

export const isPutOff = (a) => a.deferred_until && new Date(a.deferred_until) > Date.now();
