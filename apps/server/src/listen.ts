import type { Server } from 'node:http';
import type { Config } from '@gatehouse/api/platform/config';

/** A connection that does not fit into the system's queue is tried again after a second. Node's default is 511. */
const connectionsToAccept = 2048;

/**
 * Resolves when the server accepts connections on HOST and PORT.
 *
 * @throws Error whose message is a sentence, if the server cannot listen on the address.
 */
export function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(listenError(error, host, port), { cause: error })),
    );
    server.listen({ port, host, backlog: connectionsToAccept }, resolve);
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} is in use: stop what listens there, or choose another with PORT=${port + 100}.`;
  if (error.code === 'EACCES') return `This user may not listen on port ${port}: choose one above 1023 with PORT=…`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `HOST is ${host}, which is no address of this machine.`;
  return `Port ${port} cannot be listened on: ${error.message}.`;
}
