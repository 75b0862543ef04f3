// Talks to an MCP server with the official TypeScript SDK.
//
//   node mcp-probe.mjs URL [--sse] [--auth TOKEN] [--call TOOL JSON]
//   node mcp-probe.mjs [--call TOOL JSON] -- COMMAND ARGS...
//   node mcp-probe.mjs URL --capabilities        only the capabilities, as words
//
// Without --sse a URL is Streamable HTTP. Prints the server, its tools with the
// hints that hold, and how many resources and prompts there are, reading every
// page; reads the first resource. Exits 1 on any error, also when the called
// tool reports one.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parseArgs } from 'node:util';

const argv = process.argv.slice(2);
const dashes = argv.indexOf('--');
const command = dashes < 0 ? [] : argv.splice(dashes).slice(1);
const at = argv.indexOf('--call');
const call = at < 0 ? undefined : argv.splice(at, 3).slice(1);

function options() {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: { sse: { type: 'boolean' }, auth: { type: 'string' }, capabilities: { type: 'boolean' } },
    });
    if (positionals.length + (command.length ? 1 : 0) !== 1 || (call && call.length !== 2)) throw new Error('one URL or -- COMMAND is wanted');
    return { ...values, url: positionals[0] };
  } catch (e) {
    console.error(`${e.message}\nusage: node mcp-probe.mjs URL|-- COMMAND  (see the top of the file)`);
    process.exit(2);
  }
}

function transport({ url, sse, auth }) {
  if (command.length) return new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' });
  const requestInit = auth ? { headers: { Authorization: `Bearer ${auth}` } } : undefined;
  return new (sse ? SSEClientTransport : StreamableHTTPClientTransport)(new URL(url), { requestInit });
}

async function pages(list, key) {
  const all = [];
  let cursor;
  do {
    const page = await list({ cursor });
    all.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}

async function show(client, capabilities) {
  const { name, version } = client.getServerVersion();
  console.log(`${name} ${version}: ${Object.keys(capabilities).join(' ')}`);
  if (capabilities.tools) {
    for (const t of await pages((p) => client.listTools(p), 'tools')) {
      const hints = Object.entries(t.annotations ?? {}).filter(([, v]) => v === true).map(([k]) => k);
      console.log(`tool ${t.name}(${Object.keys(t.inputSchema.properties ?? {}).join(', ')}) ${hints.join(' ')}`.trimEnd());
    }
  }
  if (capabilities.resources) {
    const resources = await pages((p) => client.listResources(p), 'resources');
    const templates = await pages((p) => client.listResourceTemplates(p), 'resourceTemplates');
    console.log(`${resources.length} resources, ${templates.length} templates`);
    if (resources.length) {
      const { contents } = await client.readResource({ uri: resources[0].uri });
      console.log(`${resources[0].uri}: ${contents.map((c) => c.text ?? `[${c.mimeType}]`).join('\n')}`);
    }
  }
  if (capabilities.prompts) console.log(`${(await pages((p) => client.listPrompts(p), 'prompts')).length} prompts`);
}

const chosen = options();
const client = new Client({ name: 'mcp-probe', version: '1.0.0' });
try {
  await client.connect(transport(chosen));
  const capabilities = client.getServerCapabilities() ?? {};
  if (chosen.capabilities) console.log(Object.keys(capabilities).join(' '));
  else await show(client, capabilities);
  if (call) {
    const result = await client.callTool({ name: call[0], arguments: JSON.parse(call[1]) });
    for (const c of result.content) console.log(c.type === 'text' ? c.text : `[${c.type}]`);
    if (result.isError) process.exitCode = 1;
  }
} catch (e) {
  console.error(`FAIL ${e?.message ?? e}`);
  process.exitCode = 1;
} finally {
  await client.close().catch(() => {});
}
