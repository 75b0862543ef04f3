// An A2A agent made with the official JavaScript SDKs, for our client to talk to.
//
//   node a2a-agent.mjs 0.3|1.0|1.0+0.3 [PORT]
//
// 1.0+0.3 is a 1.0 agent that 0.3 clients can use as well. The endpoint is
// http://127.0.0.1:PORT/a2a, the card at /.well-known/agent-card.json; without a
// port it takes a free one. It prints one line with the endpoint when it listens.
//
// It echoes. "slowly" in a message makes it say that it is at work first. A message
// with the word "delete" leaves its task in input-required; "approved" then completes
// it, anything else cancels it. What it says ends with the Authorization and
// X-Session-ID headers it got, in brackets. In a context in which something was said
// before, it says that too, and which tasks the message refers to.
import { randomUUID } from 'node:crypto';
import express from 'express';

const [flavour = '1.0', port = '0'] = process.argv.slice(2);
const card = {
  name: `js agent ${flavour}`,
  description: 'Echoes; asks before it deletes.',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'echo', name: 'echo', description: 'Says it back.', tags: ['echo'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
};
const headersSeen = new Map(); // by messageId: the SDKs do not pass headers on
const app = express();
app.use(express.json());
app.use((req, _res, next) => {
  const id = req.body?.params?.message?.messageId;
  if (id) headersSeen.set(id, [req.get('authorization') ?? '-', req.get('x-session-id') ?? '-'].join(' '));
  next();
});

const said = new Map(); // texts by context

// memory is what a new task knows of its context, and puts into its answer.
function memory(text, contextId, references = [], textOf) {
  const before = said.get(contextId) ?? [];
  said.set(contextId, [...before, text]);
  if (before.length === 0 && references.length === 0) return '';
  const unknown = references.filter((t) => t.contextId !== contextId).length;
  return ` (said before: ${before.join(', ')}; continues: ${references.map(textOf).join(', ')}${unknown ? '; of another context' : ''})`;
}

// decide is what a turn comes to.
function decide(text, resumed) {
  if (resumed) return /^approved\b/i.test(text.trim()) ? ['completed', 'deleted'] : ['canceled', 'kept'];
  return /\bdelete\b/i.test(text) ? ['input-required', 'Delete it? Say approved or rejected.'] : ['completed', `echo: ${text}`];
}

// turn publishes what happens in a turn, in the words of a dialect.
function turn(bus, dialect, { taskId, contextId, userMessage, task, referenceTasks }) {
  const text = dialect.text(userMessage);
  let [state, answer] = decide(text, Boolean(task));
  if (!task) answer += memory(text, contextId, referenceTasks, (t) => dialect.text(t.history[0]));
  if (!task) bus.publish(dialect.task(taskId, contextId, userMessage));
  if (/\bslowly\b/.test(text)) bus.publish(dialect.status(taskId, contextId, 'working', 'at it'));
  const said = `${answer} [${headersSeen.get(userMessage.messageId)}]`;
  if (state === 'completed') bus.publish(dialect.artifact(taskId, contextId, said));
  bus.publish(dialect.status(taskId, contextId, state, said));
  bus.finished();
}

function executor(dialect) {
  return {
    async execute(context, bus) { turn(bus, dialect, context); },
    async cancelTask(taskId, bus) {
      bus.publish(dialect.status(taskId, '', 'canceled', 'stopped'));
      bus.finished();
    },
  };
}

const now = () => new Date().toISOString();

// old makes a 0.3 agent.
async function old(url) {
  const { DefaultRequestHandler, InMemoryTaskStore } = await import('a2a-js-sdk-0.3/server');
  const { agentCardHandler, jsonRpcHandler, UserBuilder } = await import('a2a-js-sdk-0.3/server/express');
  const parts = (text) => [{ kind: 'text', text }];
  const dialect = {
    text: (message) => message.parts.map((p) => p.text ?? '').join(' '),
    task: (id, contextId, message) => ({ kind: 'task', id, contextId, status: { state: 'submitted', timestamp: now() }, history: [message] }),
    artifact: (taskId, contextId, text) => ({ kind: 'artifact-update', taskId, contextId, artifact: { artifactId: randomUUID(), name: 'answer', parts: parts(text) } }),
    status: (taskId, contextId, state, text) => ({
      kind: 'status-update', taskId, contextId, final: state !== 'working',
      status: { state, timestamp: now(), message: { kind: 'message', role: 'agent', messageId: randomUUID(), taskId, contextId, parts: parts(text) } },
    }),
  };
  const requestHandler = new DefaultRequestHandler({
    ...card, protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC', capabilities: { streaming: true },
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
  }, new InMemoryTaskStore(), executor(dialect));
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
}

// current makes a 1.0 agent, which may speak 0.3 too.
async function current(url, both) {
  const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } = await import('@a2a-js/sdk/server');
  const { agentCardHandler, jsonRpcHandler, UserBuilder } = await import('@a2a-js/sdk/server/express');
  const { TaskState, Role } = await import('@a2a-js/sdk');
  const legacyCompat = both ? { enabled: true } : undefined;
  const stateOf = (state) => TaskState[`TASK_STATE_${state.toUpperCase().replace('-', '_')}`];
  const parts = (text) => [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }];
  const status = (state, message) => ({ state: stateOf(state), message, timestamp: now() });
  const dialect = {
    text: (message) => message.parts.map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join(' '),
    task: (id, contextId, message) => AgentEvent.task({ id, contextId, status: status('submitted'), artifacts: [], history: [message], metadata: undefined }),
    artifact: (taskId, contextId, text) => AgentEvent.artifactUpdate({
      taskId, contextId, append: false, lastChunk: true, metadata: undefined,
      artifact: { artifactId: randomUUID(), name: 'answer', description: '', parts: parts(text), metadata: undefined, extensions: [] },
    }),
    status: (taskId, contextId, state, text) => AgentEvent.statusUpdate({
      taskId, contextId, metadata: undefined,
      status: status(state, { messageId: randomUUID(), role: Role.ROLE_AGENT, taskId, contextId, parts: parts(text), metadata: undefined, extensions: [], referenceTaskIds: [] }),
    }),
  };
  const face = (protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion, tenant: '' });
  const requestHandler = new DefaultRequestHandler({
    ...card, capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    supportedInterfaces: [face('1.0'), ...(both ? [face('0.3')] : [])],
    securitySchemes: {}, securityRequirements: [], signatures: [],
  }, new InMemoryTaskStore(), executor(dialect));
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
}

const server = app.listen(Number(port), '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/a2a`;
  await (flavour === '0.3' ? old(url) : current(url, flavour === '1.0+0.3'));
  console.log(`${card.name} at ${url}`);
});
