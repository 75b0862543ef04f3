// Uses an agent that wants to know its callers, with the official A2A SDKs for JavaScript, that of 1.0 and that of 0.3:
// the public card says where tokens are issued, or that a key is one, and nothing of what was given for web hooks comes back.
//
//	node a2a-auth.mjs URL KEY    where URL is that of the API, and KEY one of agent keys
//
// Its provider is ../conformance/oidc-provider.mjs, whose client service may call it. Its tools and its model are those
// of a2a-client.mjs.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ClientFactory, ClientFactoryOptions, createAuthenticatingFetchWithRetry, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { ClientFactory as OldClientFactory, ClientFactoryOptions as OldOptions, JsonRpcTransportFactory as OldTransport } from "a2a-js-sdk-0.3/client";
import { TaskState } from "@a2a-js/sdk";
import { check, finish } from "./check.mjs";

const [api, key] = process.argv.slice(2);
assert.ok(api && key, "usage: a2a-auth.mjs URL KEY");

// A token is asked for where a scheme of the card says, after the agent has refused a request without one.
async function tokenFrom(openIdConnectUrl) {
  const { token_endpoint } = await (await fetch(openIdConnectUrl)).json();
  const reply = await fetch(token_endpoint, {
    method: "POST", headers: { Authorization: "Basic " + btoa("service:service-secret") },
    body: new URLSearchParams({ grant_type: "client_credentials", resource: "urn:agent" }),
  });
  return (await reply.json()).access_token;
}
// The ways of the card: which of its schemes is meant, in 1.0 and in 0.3, and the token that goes with it.
const ways = [{
  what: "the OpenID provider of the card",
  in10: ({ scheme }) => scheme.$case === "openIdConnectSecurityScheme" && (() => tokenFrom(scheme.value.openIdConnectUrl)),
  in03: (scheme) => scheme.type === "openIdConnect" && (() => tokenFrom(scheme.openIdConnectUrl)),
}, {
  what: "a key, where the card wants a bearer token",
  in10: ({ scheme }) => scheme.$case === "httpAuthSecurityScheme" && scheme.value.scheme === "Bearer" && (() => key),
  in03: (scheme) => scheme.type === "http" && scheme.scheme === "Bearer" && (() => key),
}];
function schemeOf(schemes, of) {
  const found = Object.entries(schemes).find(([, s]) => of(s));
  assert.ok(found, "the card has no such scheme: " + JSON.stringify(schemes));
  return [found[0], of(found[1])];
}

let answers = ""; // everything that the agent has said
function authenticating(token) {
  let headers = {};
  const handler = {
    headers: async () => headers,
    shouldRetryWithHeaders: async (_, res) => res.status === 401 && { Authorization: "Bearer " + await token() } || undefined,
    onSuccessfulRetry: async (h) => { headers = h; },
  };
  const recording = async (...args) => {
    const reply = await fetch(...args);
    if (!/event-stream/.test(reply.headers.get("Content-Type"))) answers += await reply.clone().text();
    return reply;
  };
  return createAuthenticatingFetchWithRetry(recording, handler);
}
const authentication = { scheme: "Bearer", credentials: "canary-credentials" };
const withoutSecrets = () => assert.ok(!answers.includes("canary"), "the agent repeats what was given for a web hook: " + answers);

for (const way of ways) await check(`1.0: ${way.what} leads to the extended card`, async () => {
  const card = await new DefaultAgentCardResolver().resolve(api);
  const [name, token] = schemeOf(card.securitySchemes, way.in10);
  assert.ok(card.securityRequirements.some((r) => name in r.schemes), JSON.stringify(card.securityRequirements));
  await assert.rejects(new ClientFactory().createFromAgentCard(card).then((c) => c.getTask({ tenant: "", id: randomUUID() })));
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl: authenticating(token) })],
  });
  const client = await new ClientFactory(options).createFromAgentCard(card);
  assert.equal(card.skills.length, 1);
  const extended = await client.getAgentCard();
  assert.ok(extended.skills.length > 1, JSON.stringify(extended.skills));

  const part = { content: { $case: "text", value: 'call note_add {"name":"apple"}' }, metadata: undefined, filename: "", mediaType: "" };
  const task = await client.sendMessage({
    tenant: "", metadata: undefined, configuration: undefined,
    message: { messageId: randomUUID(), role: 1, taskId: "", contextId: "", extensions: [], referenceTaskIds: [], metadata: undefined, parts: [part] },
  });
  assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const of = { tenant: "", taskId: task.id };
  await client.createTaskPushNotificationConfig({ ...of, id: "hook", url: "https://example.com/hook", token: "canary-token", authentication });
  assert.equal((await client.getTaskPushNotificationConfig({ ...of, id: "hook" })).url, "https://example.com/hook");
  const { configs } = await client.listTaskPushNotificationConfig({ ...of, pageSize: 0, pageToken: "" });
  assert.equal(configs.length, 1);
  await client.getTask({ tenant: "", id: task.id });
  withoutSecrets();
});

for (const way of ways) await check(`0.3: ${way.what} leads to the extended card`, async () => {
  const card = await (await fetch(api + "/.well-known/agent-card.json")).json();
  const [name, token] = schemeOf(card.securitySchemes, way.in03);
  assert.ok(card.security.some((r) => name in r), JSON.stringify(card.security));
  const options = OldOptions.createFrom(OldOptions.default, { transports: [new OldTransport({ fetchImpl: authenticating(token) })] });
  const client = await new OldClientFactory(options).createFromUrl(api);
  assert.ok((await client.getAgentCard()).skills.length > 1);
  const parts = [{ kind: "text", text: 'call note_add {"name":"pear"}' }];
  const task = await client.sendMessage({ message: { kind: "message", messageId: randomUUID(), role: "user", parts } });
  const pushNotificationConfig = { id: "hook", url: "https://example.com/hook", token: "canary-token", authentication: { schemes: ["Bearer"], credentials: "canary-credentials" } };
  await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig });
  assert.equal((await client.listTaskPushNotificationConfig({ id: task.id })).length, 1);
  await client.getTask({ id: task.id });
  withoutSecrets();
});
finish();
