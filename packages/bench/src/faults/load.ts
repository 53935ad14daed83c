import { randomUUID } from 'node:crypto';
import { type Owner, password } from '../speed/data.ts';
import { makeEvent } from '../speed/event.ts';

/** The target of the load. The secret that signs events may change while it runs. */
export type Target = { origin: string; owners: Owner[]; webhookSecret: string };

/** What the callers of a load observed. */
type LoadResult = {
  requests: number;
  /** By status and path; a connection that failed counts as its error's code. */
  failures: Map<string, number>;
  longestMilliseconds: number;
  /** What was answered 200: the database must contain each once afterwards. */
  signUps: string[];
  events: string[];
};

const pauseMilliseconds = 40;
let made = 0;

/** Sends requests of four kinds at a steady rate until `stop`, which resolves when all are answered. */
export function startLoad(target: Target): { seen: LoadResult; stop: () => Promise<LoadResult> } {
  const seen: LoadResult = { requests: 0, failures: new Map(), longestMilliseconds: 0, signUps: [], events: [] };
  const kinds = [signUp, sendEvent, readSession, openLogin];
  const open = new Set<Promise<void>>();
  let turn = 0;

  const timer = setInterval(() => {
    const sent = (kinds[turn++ % kinds.length] as typeof signUp)();
    open.add(sent);
    sent.finally(() => open.delete(sent));
  }, pauseMilliseconds);

  async function ask(path: string, init: RequestInit = {}): Promise<boolean> {
    const started = performance.now();
    const result = await fetch(target.origin + path, { ...init, signal: AbortSignal.timeout(60_000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return String(response.status);
      },
      (error: Error) => (error.cause as { code?: string } | undefined)?.code ?? error.name,
    );
    seen.requests += 1;
    seen.longestMilliseconds = Math.max(seen.longestMilliseconds, performance.now() - started);
    if (result !== '200') {
      const kind = `${result} ${path}`;
      seen.failures.set(kind, (seen.failures.get(kind) ?? 0) + 1);
    }
    return result === '200';
  }

  async function signUp() {
    const email = `fault-${randomUUID()}@company.example`;
    const body = JSON.stringify({ email, password, org_name: 'Fault' });
    const accepted = await ask('/api/signup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (accepted) seen.signUps.push(email);
  }

  async function sendEvent() {
    const number = made++;
    const id = `evt_fault_${number}`;
    const { subscriptionId = '' } = target.owners[number % target.owners.length] ?? {};
    const event = { id, subscriptionId, changes: number, created: Math.floor(Date.now() / 1000) };
    const { body, headers } = makeEvent(event, target.webhookSecret);
    if (await ask('/webhooks/payment', { method: 'POST', headers, body })) seen.events.push(id);
  }

  async function readSession() {
    const { session } = target.owners[made % target.owners.length] ?? {};
    await ask('/api/session', { headers: { cookie: `session=${session}` } });
  }

  async function openLogin() {
    await ask('/login');
  }

  return {
    seen,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      return seen;
    },
  };
}

/** Returns the requests, the failures by status and the longest wait, in one line. */
export function describe({ requests, failures, longestMilliseconds }: LoadResult): string {
  const failed = [...failures].map(([status, times]) => `${status}: ${times}`).join(', ') || 'none';
  return `${requests} requests, failures ${failed}; longest ${(longestMilliseconds / 1000).toFixed(1)} s`;
}
