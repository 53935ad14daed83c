import { randomUUID } from 'node:crypto';
import { password } from './data.ts';
import { makeEvent } from './event.ts';
import type { Request } from './load.ts';
import { type World, webhookSecret } from './world.ts';

export type Row = {
  title: string;
  /** The ratio to the baseline that is asked, and the one that is aimed at. */
  wanted: number;
  aim: number;
  connections: number;
  /** Whether the baseline is the bare page in place of the least program. */
  isPage?: true;
  product: (world: World) => () => Request;
  baseline: (world: World) => () => Request;
};

const readConnections = 32;

/** The rows of the table: the service's request, and the baseline's. */
export const rows: Record<string, Row> = {
  subscription: {
    title: 'GET /api/subscription',
    wanted: 0.4,
    aim: 0.55,
    connections: readConnections,
    product: (world) => signedInRead(world, '/api/subscription'),
    baseline: (world) => signedInRead(world, '/subscription'),
  },
  session: {
    title: 'GET /api/session',
    wanted: 0.45,
    aim: 0.7,
    connections: readConnections,
    product: (world) => signedInRead(world, '/api/session'),
    baseline: (world) => signedInRead(world, '/session'),
  },
  webhook: {
    title: 'POST /webhooks/payment',
    wanted: 0.4,
    aim: 0.7,
    connections: 16,
    product: (world) => events(world, '/webhooks/payment'),
    baseline: (world) => events(world, '/webhook'),
  },
  login: {
    title: 'POST /api/login',
    wanted: 0.75,
    aim: 1,
    connections: 8,
    product: (world) => signIns(world, '/api/login'),
    baseline: (world) => signIns(world, '/login'),
  },
  page: {
    title: 'GET /login',
    wanted: 0.55,
    aim: 0.8,
    connections: readConnections,
    isPage: true,
    product: () => () => ({ method: 'GET', path: '/login', headers: { accept: 'text/html' } }),
    baseline: barePage,
  },
  billing: {
    title: 'GET /billing, signed in',
    wanted: 0.08,
    aim: 0.45,
    connections: readConnections,
    isPage: true,
    product: (world) => signedInRead(world, '/billing'),
    baseline: barePage,
  },
  signup: {
    title: 'POST /api/signup',
    wanted: 0.72,
    aim: 0.95,
    connections: 8,
    product: () => signUps('/api/signup'),
    baseline: () => signUps('/signup'),
  },
};

function barePage(): () => Request {
  return () => ({ method: 'GET', path: '/', headers: { accept: 'text/html' } });
}

function signedInRead({ owners }: World, path: string): () => Request {
  let sent = 0;
  return () => {
    const owner = owners[sent++ % owners.length];
    return { method: 'GET', path, headers: { cookie: `session=${owner?.session}` } };
  };
}

let eventsMade = 0;

/** Returns requests with distinct events, one subscription after the other, each later than the one before. */
function events({ owners }: World, path: string): () => Request {
  const firstSecond = Math.floor(Date.now() / 1000) - 10_000_000;
  return () => {
    const number = eventsMade++;
    const { subscriptionId = '' } = owners[number % owners.length] ?? {};
    const changes = Math.floor(number / owners.length);
    const event = { id: `evt_${number}`, subscriptionId, changes, created: firstSecond + changes };
    return { method: 'POST', path, ...makeEvent(event, webhookSecret) };
  };
}

function signIns({ owners }: World, path: string): () => Request {
  let sent = 0;
  return () => post(path, { email: owners[sent++ % owners.length]?.email, password });
}

function signUps(path: string): () => Request {
  return () => post(path, { email: `${randomUUID()}@company.example`, password });
}

function post(path: string, body: object): Request {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
