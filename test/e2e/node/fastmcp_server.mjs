// A server written with FastMCP, the most used framework for Node: fastmcp_server.mjs PORT serves
// http://127.0.0.1:PORT/mcp.
import { FastMCP, UserError } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'switchgear-fastmcp', version: '1.0.0', logger: console });

server.addTool({
  name: 'greet',
  description: 'Greets by name',
  parameters: z.object({ name: z.string() }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  execute: async ({ name }) => `Hello, ${name}!`,
});

server.addTool({
  name: 'count',
  description: 'Reports each step of a count',
  parameters: z.object({ to: z.number().int() }),
  execute: async ({ to }, { reportProgress }) => {
    for (let step = 1; step <= to; ++step) await reportProgress({ progress: step, total: to });
    return { content: [{ type: 'text', text: `Counted to ${to}` }] };
  },
});

server.addTool({
  name: 'refuse',
  description: 'Fails every time',
  execute: async () => {
    throw new UserError('This is not to be done');
  },
});

server.addPrompt({
  name: 'ask-politely',
  description: 'A question, put politely',
  arguments: [{ name: 'question', description: 'What to ask', required: true }],
  load: async ({ question }) => `Would you please tell me: ${question}`,
});

server.addResource({
  uri: 'notes://today',
  name: 'Notes of today',
  mimeType: 'text/plain',
  load: async () => ({ text: 'Nothing happened.' }),
});

await server.start({ transportType: 'httpStream', httpStream: { host: '127.0.0.1', port: Number(process.argv[2]) } });
