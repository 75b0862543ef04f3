// The approvals that wait, of all conversations and agents that the reader may see.
import * as api from "./api.js";
import { allowsNotices, notify } from "./notices.js";
import { revealed } from "./reveal.js";
import * as words from "./words.js";

const soon = 4_000, seldom = 15_000, sweep = 30_000, lag = 60_000, moment = 50;

const byTime = (a, b) => a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0;

export class Waiting {
  items = []; loaded = false; failure;
  #begin; begun = new Promise((done) => { this.#begin = done; }); // when the first are known
  #known = new Set(); // UUIDs that were seen
  #order = []; // UUIDs as they are listed: newest first, by the start of their workflows, which is not created_at
  #done = new Map(); // when something was decided here, by UUID: the list lags
  #later = new Map(); // what was put off here, by UUID: {at, until}
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
        const asked = Date.now(), page = await api.waiting(cursor);
        read.push(...page.approvals.map((a) => this.#asPutOff(a, asked)));
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

  // take puts the first of the list in the place of what was known of it. What was listed behind them still waits.
  #take(read, complete) {
    const now = Date.now();
    for (const [uuid, at] of this.#done) if (now - at > lag) this.#done.delete(uuid);
    const items = new Map([...this.items, ...read].map((a) => [a.uuid, a])), uuids = new Set(read.map((a) => a.uuid));
    const rest = complete ? [] : this.#order.slice(this.#order.findLastIndex((u) => uuids.has(u)) + 1);
    this.#order = [...uuids, ...rest];
    this.items = this.#order.filter((u) => items.has(u) && !this.#done.has(u)).map((u) => items.get(u)).sort(byTime);
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

  // asPutOff is an approval of a list that was asked for at a time, as it was put off here since, or just before: the
  // list lags.
  #asPutOff(a, asked) {
    const own = this.#later.get(a.uuid);
    return own && own.at > asked - soon ? { ...a, deferred_until: own.until } : a;
  }

  // putOff keeps until when the reader put an approval off.
  putOff(uuid, until) {
    this.#later.set(uuid, { at: Date.now(), until });
    this.items = this.items.map((a) => a.uuid === uuid ? { ...a, deferred_until: until } : a);
  }
}

// count is how many wait and are not put off, undefined until that is known.
export const count = (waiting) => waiting.loaded ? waiting.items.filter((a) => !isPutOff(a)).length : undefined;

export const isPutOff = (a) => a.deferred_until && new Date(a.deferred_until) > Date.now();
