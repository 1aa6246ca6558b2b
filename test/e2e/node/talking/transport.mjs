// The way to a server, with the transports of either version of the SDK.

export function transportTo({ url, command, environment }, { Http, Stdio }) {
  if (url) return new Http(new URL(url));
  return new Stdio({ command: command[0], args: command.slice(1), env: environment, stderr: 'inherit' });
}
