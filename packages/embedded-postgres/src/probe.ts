import net from 'node:net';
import path from 'node:path';

/** The state of the server on a socket: it accepts queries, starts or shuts down, or there is none. */
type Presence = 'ready' | 'busy' | 'absent';

/** Sends a start-up message to the socket to learn whether the server accepts queries. */
export async function probe(socketDirectory: string): Promise<Presence> {
  const { presence, socket } = await connect(socketDirectory);
  socket.destroy();
  return presence;
}

/**
 * Holds one idle connection to the server, and calls back once when no server listens there.
 * A server that recovers from a crash of one of its backends closes the connection but stays, so
 * the connection is then opened again.
 */
export function watch(socketDirectory: string, onGone: () => void): { stop(): void } {
  let stopped = false;
  let held: net.Socket | undefined;

  async function hold() {
    while (!stopped) {
      const { presence, socket } = await connect(socketDirectory);
      if (stopped) return socket.destroy();
      if (presence === 'absent') return onGone();
      held = socket;
      if (presence === 'busy') socket.destroy();
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  hold();
  return {
    stop() {
      stopped = true;
      held?.destroy();
    },
  };
}

function connect(socketDirectory: string): Promise<{ presence: Presence; socket: net.Socket }> {
  const socket = net.connect(path.join(socketDirectory, '.s.PGSQL.5432'));
  socket.setTimeout(5_000);

  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    function finish(presence: Presence) {
      socket.setTimeout(0);
      socket.resume();
      resolve({ presence, socket });
    }
    let connected = false;
    socket.once('connect', () => {
      connected = true;
      socket.write(startupMessage());
    });
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const presence = read(received);
      if (presence) finish(presence);
    });
    socket.once('timeout', () => finish('busy'));
    // A server that recovers from a crash of one of its backends closes the connection without an answer.
    socket.on('error', () => finish(connected ? 'busy' : 'absent'));
    socket.once('close', () => finish('busy'));
  });
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html, StartupMessage. */
function startupMessage(): Buffer {
  const parameters = Buffer.from('user\0gatehouse\0database\0gatehouse\0application_name\0gatehouse-watch\0\0');
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, parameters]);
}

/**
 * Reads the first message of the answer; null until it is complete. Only the error 57P03 (starting
 * up, shutting down, recovering) means `busy`: a server that sends another error, such as too many
 * clients, is up.
 */
function read(received: Buffer): Presence | null {
  if (received.length < 5 || received.length < 1 + received.readInt32BE(1)) return null;

  const refused = received.toString('latin1', 0, 1) === 'E';
  return refused && received.includes('C57P03\0') ? 'busy' : 'ready';
}
