// The baseline: the least program that does the same work as the service, with node:http and postgres.js.
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { hash, verify } from '@node-rs/argon2';
import postgres from 'postgres';

const databaseUrl = process.env.DATABASE_URL ?? '';
const secret = process.env.PAYMENT_WEBHOOK_SECRET ?? '';
const hashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const sql = postgres(databaseUrl.replace(/\?.*/, ''), {
  host: new URL(databaseUrl).searchParams.get('host') ?? '',
  max: 10,
  onnotice: () => {},
});

type Answer = { status?: number; headers?: Record<string, string>; body: unknown };
type Handler = (request: IncomingMessage) => Promise<Answer>;

const handlers: Record<string, Handler> = {
  '/ready': async () => ({ body: await sql`select 1` }),

  async '/subscription'(request) {
    const row = await readSession(request);
    if (row === undefined) return { status: 401, body: { error: 'Sign in first.' } };
    return { body: { organisation: { id: row.organisation_id, slug: row.slug, name: row.name }, plan: row.plan } };
  },

  async '/session'(request) {
    const row = await readSession(request);
    if (row === undefined) return { status: 401, body: { error: 'Sign in first.' } };
    return {
      body: {
        user: { id: row.user_id, email: row.email },
        organisation: { id: row.organisation_id, slug: row.slug, name: row.name, tier: row.plan?.tier ?? 'free' },
        role: row.role,
      },
    };
  },

  async '/webhook'(request) {
    const body = await read(request);
    if (!isSigned(body, String(request.headers['payment-signature']))) return { status: 400, body: { error: 'No.' } };
    const event = JSON.parse(body);
    const { id, customer, status, items } = event.data.object;
    await sql.begin(async (tx) => {
      const stored = await tx`
        insert into bench.events (id, type, created, payload) values (${event.id}, ${event.type}, ${event.created}, ${body})
        on conflict do nothing`;
      if (stored.count === 0) return;
      await tx`
        insert into bench.subscriptions (id, customer_id, status, period_end)
        values (${id}, ${customer}, ${status}, ${items.data[0].current_period_end})
        on conflict (id) do update set status = excluded.status, period_end = excluded.period_end`;
    });
    return { body: { received: true, handled: true } };
  },

  async '/login'(request) {
    const { email, password } = JSON.parse(await read(request));
    const [user] = await sql`select id, password_hash from users where email = ${email}`;
    if (user === undefined || !(await verify(user.password_hash, password))) return { status: 401, body: {} };
    const token = randomBytes(32).toString('base64url');
    await sql`insert into bench.sessions (id_hash, user_id) values (${sha256(token)}, ${user.id})`;
    return { headers: { 'set-cookie': `session=${token}; Path=/; HttpOnly` }, body: { ok: true } };
  },

  async '/signup'(request) {
    const { email, password } = JSON.parse(await read(request));
    const [userId, organisationId] = [randomUUID(), randomUUID()];
    const passwordHash = await hash(password, hashParameters);
    await sql.begin(async (tx) => {
      await tx`insert into bench.users (id, email, password_hash) values (${userId}, ${email}, ${passwordHash})`;
      await tx`insert into bench.organisations (id, slug) values (${organisationId}, ${organisationId})`;
      await tx`insert into bench.memberships (user_id, organisation_id) values (${userId}, ${organisationId})`;
      await tx`insert into bench.mails (id, email) values (${randomUUID()}, ${email})`;
    });
    return { body: { pending: true, email } };
  },
};

createServer(async (request, response) => {
  const { status = 200, headers = {}, body } = await answer(request);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}).listen(Number(process.env.PORT), '127.0.0.1');

function answer(request: IncomingMessage): Promise<Answer> {
  const handler = handlers[request.url ?? ''] ?? (async () => ({ status: 404, body: {} }));
  return handler(request).catch((error) => ({ status: 500, body: { error: String(error) } }));
}

async function readSession(request: IncomingMessage) {
  const token = /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const [row] = await sql`
    select users.id as user_id, users.email, memberships.role, organisations.id as organisation_id, organisations.slug,
      organisations.name, to_json(payment_subscriptions) as plan
    from sessions join users on users.id = sessions.user_id join memberships on memberships.user_id = users.id
    join organisations on organisations.id = memberships.organisation_id
    left join payment_subscriptions on payment_subscriptions.organisation_id = organisations.id
    where sessions.id_hash = ${sha256(token)} and sessions.expires_at > now()`;
  return row;
}

function isSigned(body: string, header: string): boolean {
  const [, time = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})/.exec(header) ?? [];
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const wanted = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return signature.length === 64 && timingSafeEqual(wanted, Buffer.from(signature, 'hex'));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
