import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { startBarePage } from './bare-page.ts';
import { insertOwners, type Owner } from './data.ts';
import { subscriptionOf } from './event.ts';
import { type Use, useOf } from './process-use.ts';
import { type Program, startProgram } from './program.ts';

export const webhookSecret = 'whsec_bench';

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

/** Starts the service and the baseline. */
export async function openWorld(): Promise<World> {
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
  };
  const startProduct = () => startProgram(productFile, env, '/readyz', productOptions);
  const product = await startProduct();
  const baseline = await startProgram(baselineFile, env, '/ready');

  const owners = await insertOwners(database.url);
  const postmaster = Number.parseInt(fs.readFileSync(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);

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
