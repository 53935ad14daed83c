import type Stripe from 'stripe';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventTypes } from '../events/event-types.ts';
import { defaultSwitches, enumerations, type Switches } from '../provider/switches.ts';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { type FakeService, sdk, startFakeService, startTestSandbox } from '../testing.ts';
import { sdkTypes } from './sdk-types.ts';
import { differencesOf, startTypeCheck, type TypeCheck } from './type-check.ts';
import { everyResource, wholeLife } from './whole-story.ts';

let service: FakeService;
let sandbox: Sandbox;
let typeCheck: TypeCheck;
let stripe: Stripe;
beforeAll(() => void sdkTypes());
beforeEach(async () => {
  service = await startFakeService();
  sandbox = await startTestSandbox({ serviceUrl: service.url });
  typeCheck = startTypeCheck();
  stripe = sdk(sandbox, { httpClient: typeCheck.httpClient });
});
afterEach(async () => {
  await sandbox.close();
  await service.close();
});

describe('all answers and events of the sandbox match the SDK’s types', () => {
  test('of every resource, on every route', async () => {
    await everyResource(stripe, service.url, sandbox.payment);
    await wholeLife(stripe, sandbox);
    typeCheck.read(sandbox.payment.events());
    expect(typeCheck.found()).toEqual([]);
    expect(typeCheck.unread()).toEqual([]);
  });

  test('of every kind of error', async () => {
    const { id: customer } = await stripe.customers.create({});
    const asked = [
      () => stripe.customers.retrieve('cus_none'),
      () => stripe.customers.create({ nonsense: 1 } as Stripe.CustomerCreateParams),
      () => stripe.prices.list({ limit: 101 }),
      () => stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer }),
      () => stripe.customers.create({}, { idempotencyKey: 'one' }),
      () => stripe.customers.create({ name: 'Other' }, { idempotencyKey: 'one' }),
    ];
    for (const ask of asked) await ask().catch(() => {});
    for (const status of [401, 402, 403, 409, 429, 500, 503]) {
      sandbox.payment.failNext(status);
      await expect(stripe.customers.list()).rejects.toMatchObject({ statusCode: status });
    }
    expect(typeCheck.found()).toEqual([]);
  });

  /** All switches except those that make requests fail, and the one for payloads of an older version. */
  const switched = Object.keys(defaultSwitches()).filter((name) => !/^api_|refuses|^old_/.test(name));

  test.each([0, 1, 2])('of a whole subscription, with value number %i of every switch', async (index) => {
    const defaults: Record<string, unknown> = { ...defaultSwitches() };
    const turned = switched.flatMap((name): [string, unknown][] => {
      const choices = enumerations[name] ?? (typeof defaults[name] === 'boolean' ? [false, true] : []);
      return choices.length > 0 ? [[name, choices[index % choices.length]]] : [];
    });
    sandbox.payment.set(Object.fromEntries(turned) as Partial<Switches>);
    await wholeLife(stripe, sandbox);
    typeCheck.read(sandbox.payment.events());
    expect(typeCheck.found()).toEqual([]);
    expect(typeCheck.objects()).toEqual(
      expect.arrayContaining(['subscription', 'invoice', 'checkout.session', 'event']),
    );
  });

  test('except the documented members of payloads in an older shape', async () => {
    sandbox.payment.set({ old_payload_shape: true });
    await wholeLife(stripe, sandbox);
    expect(typeCheck.found().filter((sentence) => !sentence.startsWith('event '))).toEqual([]);
    typeCheck.read(sandbox.payment.events());
    const members = typeCheck
      .found()
      .map((sentence) => /\.(\w+: (?:is missing|the type has no such member))$/.exec(sentence)?.[1]);
    expect([...new Set(members)].sort()).toEqual([
      'billing_mode: is missing',
      'current_period_end: is missing',
      'current_period_end: the type has no such member',
      'current_period_start: is missing',
      'current_period_start: the type has no such member',
      'parent: is missing',
      'subscription: the type has no such member',
    ]);
  });
});

test('an endpoint accepts exactly the event types that the SDK lists', () => {
  const { checker, named } = sdkTypes();
  const member = named('WebhookEndpointCreateParams').getProperty('enabled_events');
  const [event] = member ? checker.getTypeArguments(checker.getTypeOfSymbol(member) as never) : [];
  const listed = event?.isUnion() ? event.types.map((type) => (type.isStringLiteral() ? type.value : null)) : [];
  expect([...eventTypes, '*'].sort()).toEqual(listed.sort());
});

describe('the type check', () => {
  type Loose = Record<string, never>;

  async function subscription(): Promise<Loose> {
    const { id: customer } = await stripe.customers.create({ payment_method: 'pm_card_visa' });
    const items = [{ price: 'price_sandbox_gold_monthly' }];
    const { id } = await stripe.subscriptions.create({ customer, items, metadata: { a: 'b' }, trial_period_days: 1 });
    return JSON.parse(JSON.stringify(sandbox.payment.state().subscriptions[id]));
  }

  test.each<[string, (given: Loose) => void, string]>([
    ['null where it is not allowed', (one) => set(one, 'customer', null), 'subscription.customer: null is not'],
    [
      'an unknown value of an enumeration',
      (one) => set(one, 'status', 'asleep'),
      'subscription.status: "asleep" is not',
    ],
    ['a number as text', (one) => set(one, 'created', '1'), 'subscription.created: "1" is not number'],
    ['a list for an object', (one) => set(one, 'items', []), 'subscription.items: a list is not allowed'],
    [
      'a null deep inside',
      (one) => set(one, 'items.data.0.price.active', null),
      'subscription.items.data[0].price.active: null',
    ],
    [
      'a wrong decimal',
      (one) => set(one, 'items.data.0.price.unit_amount_decimal', 7),
      'unit_amount_decimal: 7 is not',
    ],
    ['metadata that is not a string', (one) => set(one, 'metadata.a', 1), 'subscription.metadata.a: 1 is not string'],
  ])('finds %s', async (_, change, sentence) => {
    const given = await subscription();
    change(given);
    expect(differencesOf(given)).toEqual([expect.stringContaining(sentence)]);
  });

  test('finds every member that has another name, however deep it lies', async () => {
    const given = await subscription();
    const paths = pathsIn(given).filter(
      (path) => !path.startsWith('metadata.') && !/price\.metadata\.|plan\.metadata\./.test(path),
    );
    expect(paths.length).toBeGreaterThan(100);
    const missed = paths.filter((path) => {
      const changed = structuredClone(given);
      rename(changed, path);
      return differencesOf(changed).length === 0;
    });
    expect(missed).toEqual([]);
  });

  function holderOf(given: Loose, path: string): [Record<string, unknown>, string] {
    const parts = path.split('.');
    const last = parts.pop() as string;
    return [parts.reduce<Record<string, unknown>>((holder, part) => holder[part] as never, given), last];
  }

  function set(given: Loose, path: string, value: unknown): void {
    const [holder, name] = holderOf(given, path);
    holder[name] = value;
  }

  function rename(given: Loose, path: string): void {
    const [holder, name] = holderOf(given, path);
    holder[`${name}_x`] = holder[name];
    delete holder[name];
  }

  /** The path of every member of every object, with the index of a list's entry as a part. */
  function pathsIn(value: unknown, at: string[] = []): string[] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, held]) => {
      const inner = pathsIn(held, [...at, name]);
      return Array.isArray(value) ? inner : [[...at, name].join('.'), ...inner];
    });
  }
});
