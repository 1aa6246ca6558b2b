// What a client of the tests answers when a server asks it: always the same to the same question.

const thinkAbout = ({ messages }) => ({
  role: 'assistant',
  model: 'a-model-of-the-tests',
  stopReason: 'endTurn',
  content: { type: 'text', text: `I thought about: ${messages.at(-1).content.text}` },
});

const firstChoice = (schema) => schema.enum?.[0] ?? (schema.oneOf ?? schema.anyOf)?.[0].const;
const WRITTEN = {
  string: (schema) => firstChoice(schema) ?? 'grüße',
  number: () => 12.5,
  integer: () => 7,
  boolean: () => true,
  array: ({ items }) => [firstChoice(items)],
};

const fillIn = ({ requestedSchema }) => ({
  action: 'accept',
  content: Object.fromEntries(
    Object.entries(requestedSchema.properties).map(([name, schema]) => [
      name,
      schema.default ?? WRITTEN[schema.type](schema),
    ]),
  ),
});

const ROOTS = [{ uri: 'file:///srv/data', name: 'Data' }];

/** By ability: the method that asks for it, and the answer. */
export const ANSWERS = {
  sampling: { method: 'sampling/createMessage', answer: thinkAbout },
  elicitation: { method: 'elicitation/create', answer: fillIn },
  roots: { method: 'roots/list', answer: () => ({ roots: ROOTS }) },
};

/** Notes what is asked, without what belongs to the hop, and answers. */
export const answering = (ability, asked) => (request) => {
  const { method, answer } = ANSWERS[ability];
  const { _meta, ...params } = request.params ?? {};
  asked.push({ method, params });
  return answer(params);
};
