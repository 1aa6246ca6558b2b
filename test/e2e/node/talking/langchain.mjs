// The LangChain adapters for JavaScript: tools as an agent gets them, and what lies beside them.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Heard, perform } from './deeds.mjs';

const SERVER = 'peer';

export async function talk({ server: { url }, deeds }) {
  let onprogress;
  const adapters = new MultiServerMCPClient({
    mcpServers: { [SERVER]: { transport: 'http', url, automaticSSEFallback: false } },
    onProgress: ({ progress, total }) => onprogress?.({ progress, total }),
  });
  const tools = await adapters.getTools();
  const sdk = await adapters.getClient(SERVER);

  const callTool = async ({ name, arguments: args }, options) => {
    onprogress = options?.onprogress;
    const tool = tools.find((one) => one.name === name);
    const { content, artifact } = await tool.invoke({ type: 'tool_call', id: 'call', name, args });
    return { content, artifact };
  };
  const client = {
    listTools: async () => ({ tools: tools.map(({ name, description, schema }) => ({ name, description, schema })) }),
    listResources: async () => ({ resources: (await adapters.listResources(SERVER))[SERVER] }),
    listResourceTemplates: async () => ({
      resourceTemplates: (await adapters.listResourceTemplates(SERVER))[SERVER],
    }),
    readResource: async ({ uri }) => ({ contents: await adapters.readResource(SERVER, uri) }),
    listPrompts: (page) => sdk.listPrompts(page),
    getPrompt: (wanted) => sdk.getPrompt(wanted),
    complete: (wanted) => sdk.complete(wanted),
  };
  const answers = await perform({ client, callTool, heard: new Heard() }, deeds);
  await adapters.close();
  return { answers };
}
