// The official TypeScript client as a filter: a job as JSON on stdin, what the client saw as JSON on stdout.
//
//   {"url": ...} or {"command": [...]}, "calls": [{"name", "arguments", "progress": bool}]
//   -> {"server", "tools", "answers": [{"result" | "error", "progress": [...]}]}
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

async function readAll(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function listAllTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  return tools;
}

async function answerOf(client, call) {
  const progress = [];
  const options = call.progress ? { onprogress: (step) => progress.push(step) } : {};
  try {
    const parameters = { name: call.name, arguments: call.arguments ?? {} };
    return { result: await client.callTool(parameters, undefined, options), progress };
  } catch (error) {
    return { error: { code: error.code, message: error.message, data: error.data }, progress };
  }
}

const job = JSON.parse(await readAll(process.stdin));
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), stderr: 'ignore' });
const client = new Client({ name: 'switchgear-e2e', version: '1.0.0' });
await client.connect(transport);

const tools = await listAllTools(client);
const answers = [];
for (const call of job.calls) answers.push(await answerOf(client, call));
const seen = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), tools, answers };

if (job.url) await transport.terminateSession();
await client.close();
process.stdout.write(JSON.stringify(seen));
