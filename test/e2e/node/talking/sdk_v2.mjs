// Version 2 of the official TypeScript SDK, which speaks both eras: "mode" is how it finds out which.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ANSWERS, answering } from './answering.mjs';
import { Heard, perform } from './deeds.mjs';
import { transportTo } from './transport.mjs';

const TRANSPORTS = { Http: StreamableHTTPClientTransport, Stdio: StdioClientTransport };

export async function talk({ server, mode = 'legacy', abilities = [], deeds }) {
  const asked = [];
  const heard = new Heard();
  const client = new Client(
    { name: 'switchgear-e2e', version: '1.0.0' },
    {
      capabilities: Object.fromEntries(abilities.map((ability) => [ability, {}])),
      versionNegotiation: { mode },
    },
  );
  for (const ability of abilities) client.setRequestHandler(ANSWERS[ability].method, answering(ability, asked));
  client.fallbackNotificationHandler = async (notification) => heard.add(notification);

  const transport = transportTo(server, TRANSPORTS);
  await client.connect(transport);
  const isModern = client.getProtocolEra() === 'modern';
  const answers = await perform(
    {
      client,
      heard,
      callTool: (parameters, options) => client.callTool(parameters, options),
      listen: async (uris) => {
        if (isModern) {
          const wanted = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: uris };
          return (await client.listen(wanted)).honoredFilter;
        }
        for (const uri of uris) await client.subscribeResource({ uri });
      },
    },
    deeds,
  );
  const seen = {
    version: client.getNegotiatedProtocolVersion(),
    capabilities: client.getServerCapabilities(),
    answers,
    asked,
    logged: heard.ofMethod('notifications/message'),
  };
  if (!isModern) await transport.terminateSession?.();
  await client.close();
  return seen;
}
