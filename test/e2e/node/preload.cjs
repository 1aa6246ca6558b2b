// Preloaded into server-everything. It listens on every interface and offers no choice; here it stays on loopback.
// Node 18, which Debian 12 brings, has the Web Crypto object but no global of that name, and the SDK wants one.
const { webcrypto } = require('node:crypto');
const net = require('node:net');

globalThis.crypto ??= webcrypto;

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
  const port = Number(given[0]);
  const ready = given.find((value) => typeof value === 'function');
  return Number.isInteger(port) ? listen.call(this, { port, host: '127.0.0.1' }, ready) : listen.apply(this, given);
};
