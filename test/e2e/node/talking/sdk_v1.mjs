// Version 1 of the official TypeScript SDK, which speaks the legacy era.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { answering } from './answering.mjs';
import { Heard, perform } from './deeds.mjs';
import { transportTo } from './transport.mjs';

const REQUESTS = {
  sampling: CreateMessageRequestSchema,
  elicitation: ElicitRequestSchema,
  roots: ListRootsRequestSchema,
};

const TRANSPORTS = { Http: StreamableHTTPClientTransport, Stdio: StdioClientTransport };

export async function talk({ server, abilities = [], deeds }) {
  const asked = [];
  const heard = new Heard();
  const capabilities = Object.fromEntries(abilities.map((ability) => [ability, {}]));
  const client = new Client({ name: 'switchgear-e2e', version: '1.0.0' }, { capabilities });
  for (const ability of abilities) client.setRequestHandler(REQUESTS[ability], answering(ability, asked));
  client.fallbackNotificationHandler = async (notification) => heard.add(notification);

  const transport = transportTo(server, TRANSPORTS);
  await client.connect(transport);
  const answers = await perform(
    {
      client,
      heard,
      callTool: (parameters, options) => client.callTool(parameters, undefined, options),
      listen: async (uris) => {
        for (const uri of uris) await client.subscribeResource({ uri });
      },
    },
    deeds,
  );
  const seen = {
    capabilities: client.getServerCapabilities(),
    answers,
    asked,
    logged: heard.ofMethod('notifications/message'),
  };
  await transport.terminateSession?.();
  await client.close();
  return seen;
}
