// What an approval means, in words.

// isDoubtful tells that nobody knows whether the call ran, here or at another agent.
export const isDoubtful = (p) => p.reason === "unknown_outcome" || p.origin?.reason === "unknown_outcome";

// needsContent tells that only content decides: the fields of a form.
export const needsContent = (p) => !isDoubtful(p) && (p.reason === "question" || p.reason === "client_tool" || (p.reason === "remote" && Boolean(p.schema)));

// isPaused tells that a switch holds the call, here or at another agent: only a no decides it.
export const isPaused = (p) => p.reason === "paused" || p.origin?.reason === "paused";

// needsLogin tells that the call waits for a login, here or at another agent: only a no decides it.
export const needsLogin = (p) => p.reason === "login" || p.origin?.reason === "login";

// loginTo names what somebody logs in to.
export const loginTo = (p) => p.login?.way === "agent" ? "this agent" : p.login?.server || p.chain?.at(-1) || "the server";

// subject is the tool whose call waits, at whichever agent.
export const subject = (p) => p.origin?.tool || p.tool_name;

export function title(p) {
  const tool = subject(p), remote = p.remote_agent_name || p.chain?.at(-1);
  if (isDoubtful(p)) return `Did ${tool} run?`;
  if (isPaused(p)) return `${tool} is paused`;
  if (needsLogin(p)) return `${tool} needs a login to ${loginTo(p)}`;
  switch (p.reason) {
    case "question": return `A question from ${tool}`;
    case "client_tool": return `Carry out ${tool} yourself`;
    case "limit": return "Go on beyond the limit?";
    case "not_reached": return `Send ${tool} again?`;
    case "changed": return `${tool} has changed. Run it all the same?`;
    case "remote": return needsContent(p) ? `A question from ${remote || tool}` : `Let ${remote || "the other agent"} run ${tool}?`;
  }
  return `Run ${tool}?`;
}

const because = {
  annotation: "The tool server says that calls of this tool may destroy something.",
  setting: "The agent's configuration says that a person is asked before calls of this tool.",
  no_hint: "The tool server does not say that this tool is harmless.",
  rule: "A rule of this agent asks.",
};

// asker names who asks: the agent, or the chain of agents, and its node.
export const asker = (p) => (p.chain ?? [p.agent_name || "the agent"]).join(" › ") + (p.node ? ", node " + p.node : "");

// forWhom names the owner of the conversation, if that is proven.
export const forWhom = (p) => p.requester ? `, for ${p.requester.subject}` : "";

// approvers says who may decide, as Words of package approvers does.
export function approvers({ approvers: rules, requester }) {
  const owner = requester?.subject ?? "the owner of the conversation", not = rules.includes("not_requester");
  const who = (rules.length > not ? rules : ["scope:approve:all"]).filter((rule) => !not || !/^(not_)?requester$/.test(rule)).map((rule) => {
    const [kind, value] = rule.split(/:(.*)/s);
    if (value === "approve:all") return "whoever may decide for everybody";
    return kind === "requester" ? owner : kind === "group" ? "members of " + value : kind === "scope" ? "whoever has the scope " + value : value;
  });
  return ([...new Set(who)].join(", or ") || "nobody") + (not ? "; but not " + owner : "");
}

// risk says in two words what may go wrong, with a level: high, middle or low.
export function risk(p) {
  if (isDoubtful(p)) return ["high", "may have run"];
  if (isPaused(p)) return ["low", "paused"];
  if (needsLogin(p)) return ["low", "needs a login"];
  switch (p.reason) {
    case "changed": return ["high", "has changed"];
    case "question": case "client_tool": return ["low", "asks you"];
    case "limit": return ["low", "limit reached"];
    case "not_reached": return ["middle", "not sent yet"];
    case "remote": return ["middle", "another agent"];
  }
  return p.because === "annotation" ? ["high", "may destroy"] : p.because === "no_hint" ? ["middle", "effect not known"] : ["middle", "asks by rule"];
}

// why says why a person is asked.
export function why(p) {
  if (isDoubtful(p)) return "The call was sent and its answer was lost. Nobody here knows whether it ran. Look at what it would have changed before you answer.";
  if (isPaused(p)) return "Destructive calls are paused. The call goes on by itself after the resume.";
  if (needsLogin(p)) return `The call needs a login that only who sent the message can give${p.login?.why ? `: ${p.login.why}` : ""}. It goes on by itself after the login.`;
  switch (p.reason) {
    case "question": return "The tool server needs this answer to carry out the call.";
    case "client_tool": return "The program that sent the message has to make this call and return its result.";
    case "limit": return "The agent has used up what its configuration allows.";
    case "not_reached": return "The call was approved before. It did not reach its server, so it has not run.";
    case "changed": return "This call was approved before, but the tool or its address is not the same any more.";
    case "remote": return "This agent delegated work to another agent, which asks before it goes on.";
  }
  return because[p.because] ?? "Calls of this tool may destroy something.";
}

// effects says what comes of a yes, a no and silence.
export function effects(p) {
  if (isDoubtful(p)) return {
    yes: "Run again: the call is made once more. If it did run, it then ran twice.",
    ran: "It did run: the call is not repeated, and the agent goes on with the result that you give, if any.",
    no: "Go on without: the call is not repeated, and the agent is told that its outcome is unknown.",
    silence: "The call is not repeated.",
  };
  if (isPaused(p)) return { no: "The call does not run, also after the resume.", silence: "The call waits for the resume." };
  if (needsLogin(p)) return { no: "The call does not run, and the agent is told so.", silence: "The call waits for the login." };
  if (needsContent(p)) return { yes: "Your answer is sent, exactly as you give it.", no: "No answer is given, and the agent is told so.", silence: "The call waits for its answer." };
  if (p.reason === "limit") return { yes: "The agent goes on for as much again, and asks once more after that.", no: "The turn ends here.", silence: "The agent does nothing." };
  return {
    yes: p.reason === "remote" ? "The other agent is told that it may go on with exactly this call." : "The call runs once, with exactly these arguments.",
    no: "The call does not run. Your reason is recorded and returned as the result.",
    silence: "Nothing runs.",
  };
}

// buttons are the labels of a yes and a no.
export function buttons(p) {
  if (isDoubtful(p)) return { ran: "It did run", yes: "Run it again", no: "Go on without it" };
  if (isPaused(p)) return { no: "Go on without it" };
  if (needsLogin(p)) return { yes: p.login?.way === "agent" ? "Go on with this login" : "", no: "Go on without it" };
  if (p.reason === "client_tool") return { yes: "Send the result", no: "Refuse" };
  if (needsContent(p)) return { yes: "Send the answer", no: "Decline" };
  if (p.reason === "limit") return { yes: "Go on", no: "Stop here" };
  return { yes: "Approve", no: "Reject" };
}

const ways = { "ag-ui": "in another front end", message: "by a message", a2a: "through another agent", signal: "by a signal to the workflow" };

// decider names who decided, if that is known.
export const decider = (d) => d.identity?.subject || d.by;

// verdict says how an approval was decided, and by whom.
export function verdict(d, p = {}) {
  const by = decider(d);
  const who = (by ? `by ${by}` : "by somebody who gave no name") + (d.for?.from.subject ?? d.on_behalf_of ? ` for ${d.for?.from.subject ?? d.on_behalf_of}` : "") + (ways[d.via] ? ` ${ways[d.via]}` : "");
  switch (d.decision) {
    case "approved": if (p.reason === "paused") return `Resumed ${who}`; if (p.reason === "login") return `Logged in ${who}`; return d.outcome === "ran" ? `Answered ${who}: it did run` : `${p.reason && needsContent(p) ? "Answered" : d.revision?.changes.length ? "Approved with changes" : "Approved"} ${who}`;
    case "rejected": return `Rejected ${who}`;
    case "expired": return "Expired: nobody decided in time";
    case "cancelled": return "Withdrawn: the turn was stopped before anybody decided";
  }
  return `Ended by an operator${by ? ": " + by : ""}`;
}

const statuses = { active: "", waiting_approval: "needs you", completed: "closed" };
export const statusWord = (status) => statuses[status] ?? status;
