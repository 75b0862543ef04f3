// A Slack app made with Slack's own framework, for a workspace that a test plays.
//
//	node bolt.mjs API        where API is the base URL of the Web API, with its last slash
//
// It first calls the methods of the Web API with Slack's own client, then connects, prints "ready", and
// does in a channel what people ask of it. A person who writes "bye" to it ends it. The tokens are those
// of the workspace, in SLACK_APP_TOKEN and SLACK_BOT_TOKEN.
import assert from "node:assert/strict";
import { once } from "node:events";
import bolt from "@slack/bolt";
import { SocketModeClient } from "@slack/socket-mode";
import { check, finish } from "./check.mjs";

const { WebClient } = bolt.webApi; // of the version that bolt has
const [slackApiUrl] = process.argv.slice(2);
const { SLACK_APP_TOKEN: appToken, SLACK_BOT_TOKEN: token } = process.env;
assert.ok(slackApiUrl && appToken && token, "usage: node bolt.mjs API, with SLACK_APP_TOKEN and SLACK_BOT_TOKEN");
const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => "error", setName() {} };
const clientOptions = { slackApiUrl };
const web = new WebClient(token, { ...clientOptions, logger: quiet });
const refusal = (code) => (e) => e.data?.error === code;
const channel = "C9", plain = (text) => ({ type: "plain_text", text });
const button = (action_id, value) => ({ type: "button", action_id, value, text: plain(action_id) });
const card = (text) => [{ type: "section", text: { type: "mrkdwn", text } }, { type: "actions", elements: [button("approve", "7"), button("reject", "7")] }];
const dialog = (private_metadata) => ({
  type: "modal", callback_id: "why", private_metadata, title: plain("Reject"), submit: plain("Reject"), close: plain("Cancel"),
  blocks: [{ type: "input", block_id: "reason", label: plain("Why?"), element: { type: "plain_text_input", action_id: "text" } }],
});

await check("tokens", async () => {
  const who = await web.auth.test();
  assert.ok(who.user_id && who.bot_id && who.team_id);
  for (const wrong of ["xoxb-wrong", appToken]) {
    await assert.rejects(new WebClient(wrong, { ...clientOptions, logger: quiet }).auth.test(), refusal("invalid_auth"));
  }
  for (const wrong of ["xapp-wrong", token]) {
    await assert.rejects(new SocketModeClient({ appToken: wrong, clientOptions, logger: quiet }).start(), refusal("invalid_auth"));
    await assert.rejects(new bolt.App({ socketMode: true, appToken: wrong, token, clientOptions, logger: quiet, receiver: receiver(wrong) }).start(), refusal("invalid_auth"));
  }
});

await check("messages", async () => {
  const first = await web.chat.postMessage({ channel, text: "one", blocks: card("one"), metadata: { event_type: "kept", event_payload: { n: 1 } } });
  assert.ok(first.ts && first.channel === channel && first.message.bot_id);
  const second = await web.chat.postMessage({ channel, thread_ts: first.ts, text: "two" });
  await web.chat.update({ channel, ts: second.ts, text: "three", blocks: [] });
  const thread = [];
  for await (const page of web.paginate("conversations.replies", { channel, ts: first.ts, limit: 1, include_all_metadata: true })) thread.push(...page.messages);
  assert.deepEqual(thread.map((m) => m.text), ["one", "three"]);
  assert.deepEqual(thread[0].metadata, { event_type: "kept", event_payload: { n: 1 } });
  assert.equal(thread[1].thread_ts, first.ts);
  const { messages } = await web.conversations.history({ channel, limit: 10 });
  assert.deepEqual(messages.map((m) => m.text), ["one"]);
  assert.ok((await web.chat.postEphemeral({ channel, user: "U9", text: "for you" })).message_ts);
  await web.chat.delete({ channel, ts: second.ts });
  assert.equal((await web.conversations.replies({ channel, ts: first.ts })).messages.length, 1);
});

await check("people", async () => {
  assert.equal((await web.users.info({ user: "U9" })).user.id, "U9");
  assert.equal((await web.conversations.open({ users: "U9" })).channel.id, "D9");
});

await check("what Slack refuses", async () => {
  for (const [code, call] of Object.entries({
    channel_not_found: () => web.chat.postMessage({ channel: "", text: "x" }),
    no_text: () => web.chat.postMessage({ channel, text: "" }),
    thread_not_found: () => web.conversations.replies({ channel, ts: "1.000000" }),
    message_not_found: () => web.chat.update({ channel, ts: "1.000000", text: "x" }),
    msg_too_long: () => web.chat.postMessage({ channel, text: "x".repeat(40_001) }),
    invalid_blocks: () => web.chat.postMessage({ channel, text: "x", blocks: [{ type: "actions", elements: [] }] }),
    invalid_trigger_id: () => web.views.open({ trigger_id: "", view: dialog("7") }),
    unknown_method: () => web.apiCall("chat.unheard"),
  })) await assert.rejects(call, refusal(code), code);
});

const recipient = { recipient_user_id: "U9", recipient_team_id: (await web.auth.test()).team_id };
const task = (id, status, more) => ({ type: "task_update", id, title: `task ${id}`, status, ...more });
const threadOf = async (ts) => (await web.conversations.replies({ channel, ts, include_all_metadata: true })).messages.slice(1);
const asked = async () => (await web.chat.postMessage({ channel, text: "question" })).ts;

await check("a stream, with Slack's own helper", async () => {
  const thread_ts = await asked();
  const stream = web.chatStream({ channel, thread_ts, ...recipient, task_display_mode: "timeline", buffer_size: 8 });
  assert.equal(await stream.append({ markdown_text: "**one" }), null); // it is buffered
  assert.ok((await stream.append({ markdown_text: "** and" })).ts);
  await stream.append({ chunks: [task("a", "in_progress")] });
  assert.equal((await threadOf(thread_ts))[0].streaming_state, "in_progress");
  await stream.append({ chunks: [task("a", "complete", { output: "done" }), task("b", "error")] });
  const metadata = { event_type: "kept", event_payload: { n: 2 } };
  const { message, ts } = await stream.stop({ markdown_text: " two", metadata });
  assert.deepEqual([ts, message.text, message.streaming_state], [stream.ts, "*one* and two", "completed"]);
  const [read] = await threadOf(thread_ts);
  assert.deepEqual([read.ts, read.text, read.metadata, read.thread_ts], [ts, "*one* and two", metadata, thread_ts]);
  await assert.rejects(web.chat.appendStream({ channel, ts, markdown_text: "x" }), refusal("message_not_in_streaming_state"));
  await assert.rejects(web.chat.stopStream({ channel, ts }), refusal("message_not_in_streaming_state"));
  await web.chat.update({ channel, ts, text: "another text" });
  assert.equal((await threadOf(thread_ts))[0].text, "another text");
});

await check("what Slack refuses of streams", async () => {
  const thread_ts = await asked(), start = (more) => web.chat.startStream({ channel, thread_ts, ...recipient, ...more });
  const { ts } = await start({ markdown_text: "text" });
  const { ts: chunked } = await start({ chunks: [task("a", "in_progress")] });
  for (const [code, call] of [
    ["missing_recipient_user_id", () => start({ recipient_user_id: "" })],
    ["missing_recipient_team_id", () => start({ recipient_team_id: "" })],
    ["team_not_found", () => start({ recipient_team_id: "T9" })],
    ["invalid_thread_ts", () => start({ thread_ts: "1.000000" })],
    ["msg_too_long", () => start({ markdown_text: "x".repeat(12_001) })],
    ["invalid_chunks", () => start({ chunks: [task("a", "done")] })],
    ["invalid_chunks", () => start({ chunks: [{ type: "unheard" }] })],
    ["streaming_mode_mismatch", () => web.chat.appendStream({ channel, ts, chunks: [task("a", "complete")] })],
    ["streaming_mode_mismatch", () => web.chat.appendStream({ channel, ts: chunked, markdown_text: "text" })],
    ["no_text", () => web.chat.appendStream({ channel, ts })],
    ["message_not_found", () => web.chat.appendStream({ channel, ts: "1.000000", markdown_text: "x" })],
    ["streaming_state_conflict", () => web.chat.update({ channel, ts, text: "x" })],
    ["cant_delete_message", () => web.chat.delete({ channel, ts })],
  ]) await assert.rejects(call, refusal(code), code);
  for (const open of [ts, chunked]) {
    await web.chat.stopStream({ channel, ts: open });
    await web.chat.delete({ channel, ts: open });
  }
});

await check("the session of an agent", async () => {
  const thread_ts = await asked();
  assert.equal((await web.agents.sessions.setStatus({ channel_id: channel, thread_ts, status: "processing" })).agent_status, "processing");
  await assert.rejects(web.agents.sessions.setStatus({ channel_id: channel, thread_ts, status: "busy" }), refusal("invalid_arguments"));
});

await check("an envelope that is not acknowledged comes again, to the connection that is left", async () => {
  const client = new SocketModeClient({ appToken, clientOptions, logger: quiet });
  const seen = [];
  const again = new Promise((done) => {
    client.on("app_mention", async ({ ack, retry_num, retry_reason, event }) => {
      seen.push([event.text, retry_num, retry_reason]);
      if (retry_num > 0) done(ack());
    });
    client.on("message", ({ ack }) => ack());
  });
  await client.start();
  console.log("listening"); // the test mentions the app
  await again;
  assert.deepEqual(seen.map(([, retry, why]) => [retry, why]), [[0, ""], [1, "timeout"]]);
  const gone = once(client, "disconnected");
  await client.disconnect();
  await gone;
});

function receiver(appToken) {
  return new bolt.SocketModeReceiver({ appToken, logger: quiet, clientPingTimeout: 500, installerOptions: { clientOptions } });
}

const app = new bolt.App({ token, clientOptions, logger: quiet, receiver: receiver(appToken) });
const failures = [];
app.error(async (e) => {
  console.log(`the app failed: ${e.stack}`);
  failures.push(e);
});
app.event("app_mention", async ({ event, say, context }) => {
  await say({ thread_ts: event.thread_ts ?? event.ts, text: `mentioned by ${event.user}, I am ${context.botUserId} of ${context.teamId}` });
});
app.message("ask", async ({ message, say }) => {
  await say({ channel: message.channel, thread_ts: message.ts, text: `a card in ${message.channel_type}`, blocks: card("What now?") });
});
app.action("approve", async ({ ack, action, body, respond, client }) => {
  await ack();
  await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: `${action.value} approved by ${body.user.id}`, blocks: [] });
  await respond({ text: "seen", response_type: "ephemeral", replace_original: false });
});
app.action("reject", async ({ ack, action, body, client }) => {
  await ack();
  await client.views.open({ trigger_id: body.trigger_id, view: dialog(`${body.channel.id} ${body.container.thread_ts} ${action.value}`) });
});
app.view("why", async ({ ack, view, body, client }) => {
  await ack();
  const [channel, thread_ts, value] = view.private_metadata.split(" ");
  await client.chat.postMessage({ channel, thread_ts, text: `${value} rejected by ${body.user.id}: ${view.state.values.reason.text.value}` });
});
const streams = new Map(); // by thread, each once it has begun: somebody may stop it before Slack's answer is here
app.message("stream", async ({ message, client, context }) => {
  const stream = client.chatStream({ channel: message.channel, thread_ts: message.ts, recipient_user_id: message.user, recipient_team_id: context.teamId });
  const chunks = [{ type: "markdown_text", text: "I begin" }, { type: "task_update", id: "1", title: "search", status: "in_progress" }];
  streams.set(message.ts, stream.append({ chunks }).then(() => stream));
  await streams.get(message.ts);
});
app.event("agent_session_stopped", async ({ event, client }) => {
  const stream = await streams.get(event.thread_ts);
  assert.deepEqual(event.streaming_message_ts, [stream.ts]);
  const code = await stream.stop().catch((e) => e.data?.error);
  await client.chat.postMessage({ channel: event.channel, thread_ts: event.thread_ts, text: `${event.user} has stopped it: ${code}` });
});
app.command("/agent", async ({ ack, command, respond }) => {
  await ack();
  await respond({ text: `${command.user_id} says ${command.text}`, response_type: "ephemeral" });
});
app.message("file", async ({ message, say }) => void (await say({ thread_ts: message.ts, text: `${message.subtype} ${message.files[0].name}` })));

await check("an app, connected", async () => {
  const bye = new Promise((done) => app.message("bye", async () => done()));
  await app.start();
  console.log("ready"); // the test plays people
  await bye;
  assert.deepEqual(failures, []);
  await app.stop();
});
finish();
