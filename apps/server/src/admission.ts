import type { IncomingMessage } from 'node:http';

/**
 * How many requests may be under way in this process. More would wait for each other longer than
 * their callers wait. What must work during a flood may use the rest.
 */
const most = { ordinary: 200, preferred: 500 };

/** Whether one more request may start while `open` are under way. */
export function isAdmitted({ method, headers }: IncomingMessage, path: string, open: number): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  const isSignedIn = /(^|;\s*)(__Host-)?session=/.test(headers.cookie ?? '') || headers.authorization !== undefined;
  const isPreferred = path.startsWith('/webhooks/') || (isRead && isSignedIn);
  return open < (isPreferred ? most.preferred : most.ordinary);
}

/** Whether a request waits for news without doing anything: it does not count. */
export function isWaiting(path: string): boolean {
  return path.startsWith('/api/changes');
}
