import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { hash } from '@node-rs/argon2';
import postgres from 'postgres';
import { startBarePage } from './bare-page.ts';
import { insertData, type Owner } from './data.ts';
import { type Use, useOf } from './process-use.ts';
import { type Program, startProgram } from './program.ts';

export const webhookSecret = 'whsec_bench';
export const password = 'a pass phrase for the bench';

/** The service and the baseline, on one database with the same data. */
export type World = {
  product: Program;
  baseline: Program;
  /** The baseline of pages, built and started at the first call. */
  barePage: () => Promise<Program>;
  owners: Owner[];
  databaseUse: () => Use | null;
  startProduct: () => Promise<Program>;
  close: () => Promise<void>;
};

const productFile = path.resolve(import.meta.dirname, '../../../../apps/server/dist/main.js');
/** The options with which `npm run serve` and the systemd unit start the service. */
const productOptions = ['--max-semi-space-size=8'];
const baselineFile = path.resolve(import.meta.dirname, 'least-program.ts');

/** Starts the service and the baseline. `environment` adds settings of the service. */
export async function openWorld(environment: Record<string, string> = {}): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  const database = await openEmbedded(folder);
  const provider = await openProvider();
  const env = {
    DATABASE_URL: database.url,
    PAYMENT_WEBHOOK_SECRET: webhookSecret,
    PAYMENT_SECRET_KEY: 'sk_test_bench',
    PAYMENT_API_URL: provider.origin,
    RATE_LIMITS: 'off',
    GATEHOUSE_ENV_FILE: 'off',
    ...environment,
  };
  const startProduct = () => startProgram(productFile, env, '/readyz', productOptions);
  const product = await startProduct();
  const baseline = await startProgram(baselineFile, env, '/ready');

  const sql = postgres(database.url.replace(/\?.*/, ''), {
    host: new URL(database.url).searchParams.get('host') ?? '',
    max: 1,
    onnotice: () => {},
  });
  const owners = await insertData(sql, await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }));
  const [{ pid = 0 } = {}] = await sql`select pg_backend_pid() as pid`;
  const postmaster = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  await sql.end();

  let barePage: Promise<Program> | undefined;

  return {
    product,
    baseline,
    barePage() {
      barePage ??= startBarePage(path.join(folder, 'bare-page'));
      return barePage;
    },
    owners,
    databaseUse: () => useOf(postmaster, { family: true }),
    startProduct,
    async close() {
      await Promise.all([product.stop(), baseline.stop(), barePage?.then((program) => program.stop())]);
      await database.stop();
      provider.close();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a payment provider that knows every subscription and no price. */
async function openProvider() {
  const server = createServer((request, response) => {
    const id = /^\/v1\/subscriptions\/(\w+)/.exec(request.url ?? '')?.[1];
    const body = id === undefined ? { object: 'list', data: [], has_more: false } : subscriptionOf(id, 0);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const now = Math.floor(Date.now() / 1000);

/** Returns a subscription in the provider's form, with the fields that make up most of an event's size. */
export function subscriptionOf(id: string, changes: number) {
  return {
    id,
    object: 'subscription',
    application: null,
    billing_cycle_anchor: now - 86_400,
    billing_mode: { type: 'flexible' },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    collection_method: 'charge_automatically',
    created: now - 86_400,
    currency: 'gbp',
    customer: id.replace('sub_', 'cus_'),
    default_payment_method: 'pm_1',
    description: null,
    items: {
      object: 'list',
      data: [
        {
          id: `si_${id}`,
          object: 'subscription_item',
          created: now - 86_400,
          current_period_end: now + 2_000_000,
          current_period_start: now - 86_400,
          metadata: {},
          price: {
            id: 'price_silver',
            object: 'price',
            active: true,
            currency: 'gbp',
            lookup_key: 'silver_monthly',
            product: 'prod_silver',
            recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
            type: 'recurring',
            unit_amount: 2400,
          },
          quantity: 1,
        },
      ],
      has_more: false,
      total_count: 1,
    },
    latest_invoice: `in_${changes}`,
    livemode: false,
    metadata: { tier: 'silver' },
    schedule: null,
    start_date: now - 86_400,
    status: 'active',
    trial_end: null,
  };
}
