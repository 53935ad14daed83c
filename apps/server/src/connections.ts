import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Each takes memory and a file descriptor, which connections to the database need too. */
const maxConnections = 10_000;

/** Requests that a connection sends without waiting for the answers. Browsers and proxies send one at a time. */
const maxPipelined = 32;

/**
 * Bounds the connections of this process, and the requests that are open on each. Above the limit the connection
 * that has been without a request for longest is closed, so that connections on which nothing is sent do not keep
 * others out.
 */
export function createConnections(most = maxConnections) {
  const open = new Map<Socket, Set<ServerResponse>>();
  const idle = new Set<Socket>();

  return {
    /** To be called for each connection that was accepted. */
    add(socket: Socket): void {
      const responses = new Set<ServerResponse>();
      open.set(socket, responses);
      idle.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        idle.delete(socket);
        // Node 20 closes only the first of a connection's pipelined responses, and the others would count for ever.
        setImmediate(() => responses.forEach((each) => void each.emit('close')));
      });
      if (open.size <= most) return;

      const [oldest] = idle;
      if (oldest === undefined) return;
      idle.delete(oldest);
      oldest.destroy();
    },

    /** Counts a response until it closes. Returns false, and closes the connection, if it sent too many requests at once. */
    addResponse(socket: Socket, response: ServerResponse): boolean {
      const responses = open.get(socket);
      if (responses === undefined || socket.destroyed) return false;
      if (responses.size >= maxPipelined) {
        socket.destroy();
        return false;
      }

      idle.delete(socket);
      responses.add(response);
      response.once('close', () => {
        responses.delete(response);
        if (responses.size === 0 && !socket.destroyed) idle.add(socket);
      });
      return true;
    },
  };
}
