// What a client can be told to do, for every client whose methods are named as those of the official SDKs are.

const HEARING_LIMIT_MS = 5000;

/** Everything that a server said without being asked, and those who wait for it. */
export class Heard {
  #all = [];
  #waiting = [];

  add(notification) {
    this.#all.push(notification);
    for (const look of this.#waiting.splice(0)) look();
  }

  get count() {
    return this.#all.length;
  }

  ofMethod(method) {
    return this.#all.filter((one) => one.method === method).map((one) => one.params);
  }

  /** The first one from `start` on that `isWanted`, and the place behind it. */
  async next(start, isWanted, what) {
    const limit = Date.now() + HEARING_LIMIT_MS;
    for (let place = start; ; ) {
      for (; place < this.#all.length; ++place) {
        if (isWanted(this.#all[place])) return { notification: this.#all[place], behind: place + 1 };
      }
      const left = limit - Date.now();
      if (left <= 0) throw new Error(`never heard ${what}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => (clearTimeout(timer), resolve()));
      });
    }
  }
}

const LISTS = {
  'tools/list': { method: 'listTools', member: 'tools' },
  'prompts/list': { method: 'listPrompts', member: 'prompts' },
  'resources/list': { method: 'listResources', member: 'resources' },
  'resources/templates/list': { method: 'listResourceTemplates', member: 'resourceTemplates' },
};

async function wholeList({ client }, { method, member }) {
  const all = [];
  let cursor;
  do {
    const page = await client[method](cursor ? { cursor } : undefined);
    all.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}

/** Calls a tool that turns a part of a list on or off; once told so, lists until the part has come or gone. */
async function change(session, { by, list, name, method }) {
  const isThere = async () => (await wholeList(session, LISTS[list])).some((one) => one.name === name);
  const before = await isThere();
  let place = session.heard.count;
  await session.callTool({ name: by, arguments: {} });
  do {
    place = (await session.heard.next(place, (one) => one.method === method, `${method} that changes ${name}`)).behind;
  } while ((await isThere()) === before);
  return { before };
}

/** Calls a tool that changes a watched resource; what the client hears of it. */
async function touch({ callTool, heard }, { by, uri }) {
  const place = heard.count;
  await callTool({ name: by, arguments: {} });
  const isWanted = ({ method, params }) => method === 'notifications/resources/updated' && params.uri === uri;
  return { uri: (await heard.next(place, isWanted, `of a change of ${uri}`)).notification.params.uri };
}

const DEEDS = {
  'tools/call': ({ callTool }, { name, arguments: given = {}, _meta }, options) =>
    callTool({ name, arguments: given, ...(_meta && { _meta }) }, options),
  'prompts/get': ({ client }, { name, arguments: given }) => client.getPrompt({ name, arguments: given }),
  'resources/read': ({ client }, { uri }) => client.readResource({ uri }),
  'completion/complete': ({ client }, { ref, argument }) => client.complete({ ref, argument }),
  'logging/setLevel': ({ client }, { level }) => client.setLoggingLevel(level),
  listen: ({ listen }, { uris }) => listen(uris),
  change,
  touch,
};
for (const [name, list] of Object.entries(LISTS)) DEEDS[name] = (session) => wholeList(session, list);

/** Does one after the other. What fails is an answer, too. */
export async function perform(session, deeds) {
  const answers = [];
  for (const deed of deeds) {
    const progress = [];
    const options = deed.progress ? { onprogress: (step) => progress.push(step) } : undefined;
    try {
      const result = await DEEDS[deed.do](session, deed, options);
      answers.push(deed.progress ? { result, progress } : { result });
    } catch (error) {
      answers.push({ error: { code: error.code, message: error.message, data: error.data } });
    }
  }
  return answers;
}
