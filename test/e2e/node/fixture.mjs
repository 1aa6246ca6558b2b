// A tool server for both eras, with everything that the conformance suite asks a server for.
//
//   fixture.mjs --port 3403     POST, GET and DELETE on http://127.0.0.1:3403/mcp; port 0 takes a free one
//   fixture.mjs --stdio         the same server on stdin and stdout
//   ... --legacy-only           one that has never heard of 2026-07-28
//
// Over HTTP it says {"port": N} on stdout once it listens.
import { parseArgs } from 'node:util';
import { listenHttp } from './fixture/http.mjs';
import { runStdio } from './fixture/stdio.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    stdio: { type: 'boolean', default: false },
    'legacy-only': { type: 'boolean', default: false },
  },
});
const eras = { modern: !options['legacy-only'] };

if (options.stdio) {
  await runStdio(eras);
} else {
  const port = await listenHttp(Number(options.port), eras);
  process.stdout.write(`${JSON.stringify({ port })}\n`);
}
