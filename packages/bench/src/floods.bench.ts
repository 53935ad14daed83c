import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { type Answer, describe, isExpected, probe, probeRequests } from './faults/probes.ts';
import { openWorld } from './faults/world.ts';

// Floods two nodes behind HAProxy with requests of one kind after the other, as fast as they are answered, from 500
// connections and four clients, without rate limits. Measures how long probes, events and the reads of a true session
// wait meanwhile. FLOODS chooses kinds by a part of their names, BENCH_SECONDS is the length of each.

const seconds = Number(process.env.BENCH_SECONDS ?? 10);
const connections = 500;
const clients = 4;

type Flood = { name: string; run: () => Promise<string> };

// This program adds the client's address as a first proxy would, HAProxy its own.
const world = await openWorld({ TRUSTED_PROXIES: '2' });
// Each node reads the session, as it would have before a flood.
for (const { origin } of world.nodes) await probe({ ...world, origin });

const invented = () => ({ cookie: `session=${randomBytes(32).toString('base64url')}` });
const json = { 'content-type': 'application/json' };
const signIn = JSON.stringify({ email: 'flood@company.example', password: 'not the pass phrase' });
const form = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html',
  origin: world.origin.replace('127.0.0.1', 'localhost'),
};
const owner = { cookie: `session=${world.owners[1]?.session}` };
const largeCookies = { cookie: `${invented().cookie}; ${'a=b; '.repeat(2_500)}` };
const key = { authorization: `Bearer gh_live_${randomBytes(24).toString('base64url')}` };
const file = /_app\/immutable\/[^"]+\.css/.exec(await (await fetch(`${world.origin}/login`)).text())?.[0];
const unsigned = { ...json, 'payment-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` };

const floods: Flood[] = [
  http('pages without a session', '/login?rendered', {}),
  http('pages with invented sessions', '/login?rendered', { headers: invented() }),
  http('reads with invented sessions', '/api/session', { headers: invented() }),
  http('pages with invented sessions and cookies of 12 kB', '/login?rendered', { headers: largeCookies }),
  http('forms with invented sessions', '/account?/changeName', {
    method: 'POST',
    headers: { ...invented(), ...form },
    body: 'name=A',
  }),
  http('pages of a user', '/billing', { headers: owner }),
  http('pages of an API key', '/login?rendered', { headers: key }),
  http('links that were never sent', `/verify?token=${randomBytes(32).toString('base64url')}`, {}),
  http('notices that do not exist', '/login?rendered', {
    headers: { cookie: `notice=${randomBytes(32).toString('base64url')}` },
  }),
  http('pages that do not exist', '/nowhere', {}),
  http('files', `/${file}`, {}),
  http('reads with invented keys', '/api/subscription', { headers: key }),
  http('polls with invented sessions', '/api/changes?wait=60', { headers: invented() }),
  http('sign-ins', '/api/login', { method: 'POST', headers: json, body: signIn }),
  http('events without a valid signature', '/webhooks/payment', { method: 'POST', headers: unsigned, body: '{}' }),
  http('events of 1 MB', '/webhooks/payment', { method: 'POST', headers: unsigned, body: ' '.repeat(1_000_000) }),
  http('bodies that are too large', '/api/login', { method: 'POST', headers: json, body: ' '.repeat(900_000) }),
  {
    name: 'bodies that do not come',
    run: () => holdOpen('POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n'),
  },
  { name: 'half a request', run: () => holdOpen('GET /login HTTP/1.1\r\nHost: ') },
];
const chosen = floods.filter(({ name }) => name.includes(process.env.FLOODS ?? ''));

let failed = 0;
for (const { name, run } of chosen) {
  console.log(`\n${name}`);
  const during: Answer[] = [];
  const flooding = run();
  await pause(1_000);
  for (const end = Date.now() + (seconds - 2) * 1000; Date.now() < end; ) during.push(...(await probe(world)));
  console.log(await flooding);
  for (const { path } of probeRequests(world)) console.log(describe(path, during));
  failed += during.filter((each) => !isExpected(each)).length;
  await pause(2_000);
}
await world.close();
process.exit(failed === 0 ? 0 : 1);

function http(name: string, path: string, request: Omit<autocannon.Request, 'path'>): Flood {
  return {
    name,
    async run() {
      const requests = Array.from({ length: clients }, (_, at) => ({
        ...request,
        path,
        headers: { ...request.headers, 'x-forwarded-for': `203.0.113.${at}` },
      }));
      const {
        statusCodeStats = {},
        errors,
        latency,
      } = await autocannon({
        url: world.origin,
        requests,
        connections,
        duration: seconds,
        timeout: 30,
        workers: 1,
      });
      const answers = Object.entries(statusCodeStats).map(([status, { count }]) => `${status}: ${count}`);
      return `answered ${answers.join(', ')}; ${errors} errors; longest ${latency.max} ms`;
    },
  };
}

/** Keeps connections open on which this text is all that comes, past HAProxy, which would hold them back. */
async function holdOpen(text: string): Promise<string> {
  const { port } = new URL(world.nodes[0]?.origin ?? '');
  let closed = 0;
  const open = () => {
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(text)).resume();
    socket.on('error', () => {});
    once(socket, 'close').then(() => (closed += 1));
    return socket;
  };
  const sockets = Array.from({ length: connections }, open);
  await pause(seconds * 1000);
  const result = `${connections} connections held, ${closed} of them closed by the node`;
  for (const socket of sockets) socket.destroy();
  return result;
}
