import { once } from 'node:events';
import net from 'node:net';

/** A TCP proxy in front of a server, which can stop passing bytes without closing a connection. */
export type TcpProxy = {
  port: number;
  /** Returns the database's URL with the address of the proxy. */
  url: (databaseUrl: string) => string;
  /** Drops every byte of the existing connections, and of new ones until `restore`. */
  cut: () => void;
  /** Drops every byte of the oldest `count` connections. */
  cutOldest: (count: number) => void;
  /** Passes the bytes of new connections again. */
  restore: () => void;
  /** Stops passing answers to a client once it has sent this text, such as "commit". */
  cutAnswerTo: (text: string) => void;
  /** Drops every byte of the next connection whose client sends this text, with that text. */
  cutNextAt: (text: string) => void;
  close: () => Promise<void>;
};

/** Starts a proxy in front of the server of `databaseUrl`, which may be a Unix socket. */
export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = targetOf(databaseUrl);
  const open = new Set<{ isCut: boolean; ends: net.Socket[] }>();
  let isCut = false;
  let cutText: string | null = null;
  let cutOnceText: string | null = null;

  const server = net.createServer((client) => {
    const upstream = net.connect(target as net.NetConnectOpts);
    const pair = { isCut, ends: [client, upstream] };
    open.add(pair);
    pass(client, upstream, (bytes) => {
      if (cutText !== null && bytes.includes(cutText)) pair.isCut = true;
      if (cutOnceText === null || !bytes.includes(cutOnceText)) return true;
      cutOnceText = null;
      pair.isCut = true;
      return false;
    });
    pass(upstream, client);

    function pass(from: net.Socket, to: net.Socket, isPassed: (bytes: Buffer) => boolean = () => true) {
      from.on('data', (bytes) => {
        const wasCut = pair.isCut;
        if (isPassed(bytes) && !wasCut && (from === client || !pair.isCut)) to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(pair);
        if (!pair.isCut) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;

  return {
    port,
    url(database) {
      const url = new URL(database);
      url.searchParams.delete('host');
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    cut() {
      isCut = true;
      for (const pair of open) pair.isCut = true;
    },
    cutOldest(count) {
      for (const pair of [...open].slice(0, count)) pair.isCut = true;
    },
    restore() {
      isCut = false;
      cutText = null;
      cutOnceText = null;
    },
    cutAnswerTo(text) {
      cutText = text;
    },
    cutNextAt(text) {
      cutOnceText = text;
    },
    async close() {
      for (const { ends } of open) for (const end of ends) end.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function targetOf(databaseUrl: string): net.NetConnectOpts {
  const url = new URL(databaseUrl);
  const host = url.searchParams.get('host') ?? url.hostname;
  const port = Number(url.port || 5432);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
