// The state that an agent shares with its readers: status, tree, approvals that wait, usage.
import { namespace } from "./transcript.js";

// apply returns the state after an event.
export function apply(state, event) {
  if (event.type === "STATE_SNAPSHOT") return event.snapshot[namespace] ?? state;
  if (event.type !== "STATE_DELTA") return state;
  const next = { ...state };
  for (const { op, path, value } of event.delta) {
    const [, space, member] = path.split("/");
    if (op === "replace" && space === namespace) next[member] = value;
  }
  return next;
}
