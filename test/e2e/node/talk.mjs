// An official client as a filter: what it is to do as JSON on stdin, what it saw as JSON on stdout.
//
//   {"client": "sdk_v1" | "sdk_v2" | "langchain", "mode": ..., "server": {"url"} | {"command": [...]},
//    "abilities": ["sampling", "elicitation", "roots"], "deeds": [{"do": "tools/call", "name": ...}, ...]}
//   -> {"version", "capabilities", "answers": [{"result" | "error", "progress"?}], "asked", "logged"}
//
// One answer a deed, in order; the deeds are those of talking/deeds.mjs. "asked": what the server wanted of the client.
import { text } from 'node:stream/consumers';

const job = JSON.parse(await text(process.stdin));
const { talk } = await import(`./talking/${job.client}.mjs`);
process.stdout.write(JSON.stringify(await talk(job)));
