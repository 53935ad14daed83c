import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createConnections } from './connections.ts';

it('above the limit the connection that has been idle for longest is closed, not one with an open request', async () => {
  const connections = createConnections(2);
  const server = http.createServer((request, response) => void connections.addResponse(request.socket, response));
  server.on('connection', connections.add).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function connect(): Promise<{ socket: net.Socket; closed: Promise<unknown> }> {
    const socket = net.connect(port, '127.0.0.1').resume();
    const closed = once(socket, 'close');
    await once(server, 'connection');
    return { socket, closed };
  }
  const busy = await connect();
  busy.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(server, 'request');
  const halfOpen = await connect();
  const next = await connect();
  await halfOpen.closed;
  expect([busy.socket.closed, next.socket.closed]).toEqual([false, false]);

  await connect();
  await next.closed;
  expect(busy.socket.closed).toBe(false);
  server.closeAllConnections();
  server.close();
});
