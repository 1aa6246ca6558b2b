// Preloaded into servers that offer no choice of address: they listen on loopback only.
const net = require('node:net');

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
  const port = Number(given[0]);
  const ready = given.find((value) => typeof value === 'function');
  return Number.isInteger(port) ? listen.call(this, { port, host: '127.0.0.1' }, ready) : listen.apply(this, given);
};
