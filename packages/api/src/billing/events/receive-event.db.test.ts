import { describe, expect, test } from 'vitest';
import { makeMember, makeSecond, makeSubscriber } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { useEventTest } from '../../testing/payment/use-event-test.ts';
import { noSyncs } from '../sync/sync-queue.ts';
import { receiveEvent } from './receive-event.ts';

const { billing, second, event, sign, receive, storedEvent, tier } = useEventTest();

describe('the signature', () => {
  const harmless = () => event('ping.sent', {});

  test('of the newest or of an older secret is accepted', async () => {
    expect(await receive(harmless())).toEqual({ received: true, handled: false });
    const value = JSON.stringify(harmless());
    expect(await receive(value, sign(value, 'rolled_secret'))).toEqual({ received: true, handled: false });
  });

  test.each<[string, (payload: string) => string]>([
    ['none', () => ''],
    ['of another secret', (payload) => sign(payload, 'another')],
    ['of other bytes', (payload) => sign(`${payload} `)],
    ['older than five minutes', (payload) => sign(payload, undefined, second() - 301)],
    ['in uppercase hex', (payload) => sign(payload).replace(/v1=(.*)/, (_, hex: string) => `v1=${hex.toUpperCase()}`)],
    ['of another scheme', (payload) => sign(payload).replace('v1=', 'v0=')],
    ['that is no signature', () => 'x'],
  ])('%s is a 400 and leaves nothing behind', async (_, signature) => {
    const value = harmless();
    const payload = JSON.stringify(value);
    await expect(receive(payload, signature(payload))).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await storedEvent(value.id)).toBeUndefined();
  });

  test('is checked on the raw bytes: a byte-order mark belongs to them', async () => {
    const payload = `\uFEFF${JSON.stringify(harmless())}`;
    await expect(receive(payload, sign(payload.slice(1)))).rejects.toThrow(/No signatures found/);
    await expect(receive(payload)).rejects.toThrow('The body is not valid JSON.');
  });

  test.each(['{', '', 'null', '7', '[]', '{}', '{"object":"event","id":"evt_x"}'])(
    'of a body that is not an event is a 400: %s',
    async (payload) => {
      await expect(receive(payload, payload === '' ? 't=1,v1=x' : undefined)).rejects.toMatchObject({
        code: 'VALIDATION',
      });
    },
  );

  test('of signed JSON that is not an event is refused with a sentence', async () => {
    await expect(receive('{"a":1}')).rejects.toThrow('This is not an event.');
  });

  test('of an event with a thin payload is refused, and its type is named', async () => {
    const thin = { id: 'evt_1', object: 'v2.core.event', type: 'v1.subscription_schedule.phase_added', created: 'now' };
    await expect(receive(JSON.stringify(thin))).rejects.toThrow(
      'This endpoint needs snapshot payloads, and v1.subscription_schedule.phase_added came with a thin one.',
    );
  });

  test('without a secret refuses everything', async () => {
    const { app } = billing;
    const payload = JSON.stringify(harmless());
    for (const webhookSecrets of [[], ['']]) {
      const closed = { ...app, config: { ...app.config, webhookSecrets } };
      const delivery = { body: Buffer.from(payload), signature: sign(payload, 'x') };
      await expect(receiveEvent(closed, delivery)).rejects.toMatchObject({ code: 'VALIDATION' });
    }
  });
});

describe('every event is stored', () => {
  test('with its exact payload, U+0000 and broken surrogates included', async () => {
    const value = event('something.new', { text: 'a\u0000b\ud800' });
    expect(await receive(value)).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({
      outcome: 'ignored',
      handled: false,
      payload: JSON.stringify(value),
    });
  });

  test('of the other mode, and changes nothing', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const value = event('customer.subscription.deleted', { ...subscription, status: 'canceled' }, { livemode: true });
    expect(await receive(value)).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'other_mode' });
    expect(await tier(principal)).toBe('silver');
  });

  test('without a key, whatever its mode', async () => {
    const { subscription } = await makeSubscriber(billing);
    const off = { ...billing.app, payment: null };
    const value = event('customer.subscription.deleted', { ...subscription, status: 'canceled' });
    const payload = JSON.stringify(value);
    const answer = await receiveEvent(off, { body: Buffer.from(payload), signature: sign(payload) });
    expect(answer).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'other_mode' });
  });

  test('of a customer that is not ours', async () => {
    const value = event('customer.subscription.created', { id: 'sub_x', customer: 'cus_x', status: 'active' });
    expect(await receive(value)).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'not_ours', flagged: false });
  });

  test.each(['0199c0de-0000-7000-8000-000000000000', 'no-id-at-all'])(
    'of an unknown organisation (%s), flagged, never a 500',
    async (organisation) => {
      const object = { id: 'sub_y', customer: 'cus_y', status: 'active', metadata: { organisation } };
      const value = event('customer.subscription.created', object);
      expect(await receive(value)).toEqual({ received: true, handled: false });
      expect(await storedEvent(value.id)).toMatchObject({ outcome: 'unknown_organisation', flagged: true });
    },
  );

  test('that names another customer for our organisation, flagged', async () => {
    const { organisationId } = await makeMember(billing);
    const object = { id: 'sub_z', customer: 'cus_z', status: 'active', metadata: { organisation: organisationId } };
    const value = event('customer.subscription.created', object);
    expect(await receive(value)).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'contradiction', flagged: true });
  });

  test('once: a duplicate gets the first one’s answer, also when many arrive concurrently', async () => {
    const { subscription } = await makeSubscriber(billing);
    const value = event('customer.subscription.updated', subscription, { created: second() - 1000 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => receive(value)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set(['{"received":true,"handled":true}']),
    );
    const foreign = event('something.else', {});
    expect([await receive(foreign), await receive(foreign)]).toEqual(Array(2).fill({ received: true, handled: false }));
  });
});

test('events of one organisation are applied serially, those of different organisations concurrently', async () => {
  const { subscription } = await makeSubscriber(billing);
  const { subscription: foreign } = await makeSubscriber(billing);
  const second = await makeSecond(billing, subscription.customer, 'gold');
  await billing.settled();

  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const holder = billing.app.sql.begin(async (tx) => {
    await tx`select from payment_subscriptions where id = ${subscription.id} for update`;
    isLocked();
    await held;
  });
  await locked;
  // Its transaction locks the organisation and waits for the row.
  const first = receive(event('customer.subscription.updated', subscription));
  await waitingForLocks(billing, 1);

  let answered = false;
  const next = receive(event('customer.subscription.updated', second)).then(() => {
    answered = true;
  });
  await waitingForLocks(billing, 2);
  await receive(event('customer.subscription.updated', foreign));
  expect(answered).toBe(false);
  release();
  await Promise.all([holder, first, next]);
});

describe('between begin and commit', () => {
  /** Returns the statements of an event's transaction, each as its verb and table. */
  async function statementsOf(value: object): Promise<string[]> {
    const payload = JSON.stringify(value);
    const sent: string[] = [];
    const { options } = billing.app.sql;
    options.debug = (_, statement) => void sent.push(statement.trim());
    try {
      // Without the sync that follows, whose statements would be among these.
      await receiveEvent({ ...billing.app, syncs: noSyncs }, { body: Buffer.from(payload), signature: sign(payload) });
    } finally {
      options.debug = false;
    }
    const [begin, commit] = ['begin', 'commit'].map((word) => sent.findIndex((each) => each.startsWith(word)));
    return sent
      .slice(Number(begin) + 1, commit)
      .map((each) => each.replace(/^(insert|select|with)\b.*?"(\w+)".*$/s, '$1 $2'));
  }

  test('an event has four statements where the plan stays, and eight at most where it changes', async () => {
    const { subscription } = await makeSubscriber(billing);
    await billing.settled();
    const change = (status: string, before: string | null, later: number) => {
      const data = { object: { ...subscription, status }, previous_attributes: before && { status: before } };
      return event('customer.subscription.updated', {}, { created: second() + later, data });
    };
    const row = ['select id', 'insert payment_events', 'select payment_subscriptions', 'insert payment_subscriptions'];
    const consequences = ['insert audit_events', 'insert organisation_plans', 'insert changes'];

    expect(await statementsOf(change('active', null, 1))).toEqual(row);
    expect(await statementsOf(change('past_due', 'active', 2))).toEqual([...row, ...consequences]);
    expect(await statementsOf(change('active', null, 1))).toEqual(row);
    await statementsOf(change('incomplete', 'past_due', 3));
    const started = await statementsOf(change('active', 'incomplete', 4));
    // One enqueues the job that closes the open checkouts.
    expect(started).toEqual([...row, consequences[0], expect.stringMatching('pgboss'), ...consequences.slice(1)]);
  });
});

describe('a failure while applying', () => {
  test('is a 500 with the exact sentence, stores nothing, and the next delivery succeeds', async () => {
    const { subscription } = await makeSubscriber(billing);
    const value = event('customer.subscription.updated', subscription);
    const payload = JSON.stringify(value);
    const delivery = { body: Buffer.from(payload), signature: sign(payload) };
    await billing.app.sql.unsafe(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger broken before insert or update on payment_subscriptions execute function fail()`);

    await expect(receiveEvent(billing.app, delivery)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'Could not process the event.',
    });
    expect(await storedEvent(value.id)).toBeUndefined();
    expect(billing.logged.at(-1)).toMatchObject({ level: 'error', fields: { type: 'customer.subscription.updated' } });
    await billing.app.sql.unsafe('drop trigger broken on payment_subscriptions');
    expect(await receiveEvent(billing.app, delivery)).toEqual({ received: true, handled: true });
  });
});
