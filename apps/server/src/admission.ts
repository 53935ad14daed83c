import type { IncomingMessage } from 'node:http';
import { clientKey } from '@gatehouse/api/security/client-key';

/**
 * How many requests of each class this process serves at once, and how many of one client. With more,
 * requests would wait for each other until their callers time out. Each class has its own limit, so
 * a flood of one does not block the others. A proxy that is not in TRUSTED_PROXIES is one client.
 */
const classes = {
  ordinary: { all: 200, client: 150 },
  /** Reads with a session or a key. */
  signedIn: { all: 300, client: 250 },
  /** The payment provider sends from a few addresses. */
  webhooks: { all: 300, client: 250 },
  /** Requests that wait for changes: they do nothing meanwhile. */
  waiting: { all: 2000, client: 1000 },
};

type Class = keyof typeof classes;

type Admission = {
  /** Counts a request of a client as open. Returns the function that ends it, or null if a limit is reached. */
  admit: (request: IncomingMessage, path: string, client: string) => (() => void) | null;
};

/** Limits how many requests are open at once, in memory: each process counts its own. */
export function createAdmission(): Admission {
  const open = new Map<string, number>();

  function change(key: string, by: number) {
    const count = (open.get(key) ?? 0) + by;
    if (count === 0) open.delete(key);
    else open.set(key, count);
  }

  return {
    admit(request, path, client) {
      const kind = classOf(request, path);
      const keys = { all: kind, client: `${kind} ${clientKey(client)}` };
      const { all, client: ofClient } = classes[kind];
      if ((open.get(keys.all) ?? 0) >= all || (open.get(keys.client) ?? 0) >= ofClient) return null;

      for (const key of Object.values(keys)) change(key, 1);
      return () => {
        for (const key of Object.values(keys)) change(key, -1);
      };
    },
  };
}

function classOf({ method, headers }: IncomingMessage, path: string): Class {
  const [pathname] = path.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  const isSignedIn = /(^|;\s*)(__Host-)?session=/.test(headers.cookie ?? '') || headers.authorization !== undefined;
  if (pathname?.startsWith('/webhooks/')) return 'webhooks';
  if (isRead && isSignedIn) return pathname === '/api/changes' ? 'waiting' : 'signedIn';
  return 'ordinary';
}
