import v8 from 'node:v8';
import vm from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Requester } from '../client.ts';
import { createPlaces, type HeldPlace } from './places.ts';

type Request = Requester & {
  state: 'waiting' | 'started' | 'refused' | 'ended';
  place?: HeldPlace;
  /** What had a turn while this one waited to start. */
  overtakenBy: Requester[];
};

const megabyte = 1024 * 1024;
const someone = { network: 'someone', client: 'someone' };

/** Places, and every request that arrived, as the admission treats them. */
function observed(maxOpen: number) {
  const places = createPlaces(maxOpen, 32 * megabyte);
  const requests: Request[] = [];
  const inState = (...states: Request['state'][]) => requests.filter(({ state }) => states.includes(state));
  const ofNetwork = ({ network }: Requester) =>
    inState('waiting', 'started').filter((each) => each.network === network);
  const ofClient = (each: Requester) => ofNetwork(each).filter(({ client }) => client === each.client);

  let arriving = someone;
  function arrive(requester: Requester): Request {
    const request: Request = { ...requester, state: 'waiting', overtakenBy: [] };
    arriving = requester;
    if (!places.hasPlace(requester) && !places.displace(requester)) {
      expectNoneHeavierWaits(requester);
      requests.push({ ...request, state: 'refused' });
      return request;
    }

    const place = places.take(requester, 0);
    requests.push(Object.assign(request, { place }));
    place.start({
      run: () => {
        request.state = 'started';
      },
      refuse: () => {
        expectHeaviest(request, arriving);
        request.state = 'refused';
        place.leave();
      },
    });
    return request;
  }

  function expectNoneHeavierWaits(requester: Requester) {
    for (const other of inState('waiting')) {
      if (other.network !== requester.network) {
        expect(ofNetwork(other).length).toBeLessThanOrEqual(ofNetwork(requester).length + 1);
      } else if (other.client !== requester.client) {
        expect(ofClient(other).length).toBeLessThanOrEqual(ofClient(requester).length + 1);
      }
    }
  }

  /**
   * Of those that wait to start, none is of a heavier client of the displaced one's network. Nor is any of a network
   * heavier than that one or, where the requester takes a place of its own network, than it would be with one more.
   */
  function expectHeaviest(displaced: Request, requester: Requester) {
    const network = ofNetwork(displaced).length + (requester.network === displaced.network ? 1 : 0);
    for (const other of inState('waiting')) {
      if (other.network !== displaced.network) expect(ofNetwork(other).length).toBeLessThanOrEqual(network);
      else expect(ofClient(other).length).toBeLessThanOrEqual(ofClient(displaced).length);
    }
  }

  function runNext(): void {
    const before = inState('waiting');
    const run = places.next();
    run?.();
    const started = before.find(({ state }) => state === 'started');
    if (started !== undefined) for (const each of inState('waiting')) each.overtakenBy.push(started);
  }

  let continuing = 0;
  function continueLater(request: Request | undefined): void {
    if (request === undefined) return;
    continuing += 1;
    request.place?.continue(() => {
      continuing -= 1;
    });
  }

  function leave(request: Request | undefined): void {
    if (request === undefined) return;
    request.state = 'ended';
    request.place?.leave();
  }

  return { places, requests, inState, arrive, runNext, continueLater, leave, continuing: () => continuing };
}

const arrivals = fc.record({ network: fc.constantFrom('a', 'b', 'c', 'd'), client: fc.constantFrom('1', '2', '3') });
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: arrivals },
    { weight: 2, arbitrary: fc.constant('next' as const) },
    { weight: 1, arbitrary: fc.constantFrom('continue' as const, 'end' as const, 'disconnect' as const) },
  ),
  { maxLength: 120 },
);

it('no more requests are open than places, none is refused while a heavier one waits, and at the end nothing is left', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (history, maxOpen) => {
      const { places, arrive, runNext, continueLater, leave, inState, requests, continuing } = observed(maxOpen);
      for (const step of history) {
        if (step === 'next') runNext();
        else if (step === 'continue') continueLater(inState('started').at(-1));
        else if (step === 'end') leave(inState('started')[0]);
        else if (step === 'disconnect') leave(inState('waiting').at(-1));
        else arrive(step);

        expect(places.open()).toBe(inState('waiting', 'started').length);
        expect(places.open()).toBeLessThanOrEqual(maxOpen);
        expect(places.waiting()).toBe(inState('waiting').length + continuing());
      }

      const waited = places.waiting();
      for (let turn = 0; turn < waited; turn++) runNext();
      expect(inState('waiting')).toEqual([]);
      for (const request of inState('started')) leave(request);
      expect([places.open(), places.waiting(), places.next()]).toEqual([0, 0, undefined]);
      expect(requests.every(({ state }) => state === 'ended' || state === 'refused')).toBe(true);
      expect(places.hasBytes(someone, 8 * megabyte)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it('networks start in turns, and the clients of each, whatever the others send', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const { arrive, runNext, leave, inState, requests, places } = observed(50);
      for (const step of history) {
        if (step === 'next') runNext();
        else if (typeof step === 'string') leave(inState('started')[0]);
        else arrive(step);
      }
      while (places.waiting() > 0) runNext();

      for (const request of requests) {
        const ofNetwork = request.overtakenBy.filter(({ network }) => network === request.network);
        const ofClient = ofNetwork.filter(({ client }) => client === request.client);
        for (const name of ['a', 'b', 'c', 'd'].filter((each) => each !== request.network)) {
          const others = request.overtakenBy.filter(({ network }) => network === name);
          expect(others.length).toBeLessThanOrEqual(ofNetwork.length + 1);
        }
        for (const name of ['1', '2', '3'].filter((each) => each !== request.client)) {
          const others = ofNetwork.filter(({ client }) => client === name);
          expect(others.length).toBeLessThanOrEqual(ofClient.length + 1);
        }
      }
    }),
    { numRuns: 300 },
  );
});

it('a few networks whose requests take long leave places for another, however many they send', () => {
  const { places, arrive, runNext } = observed(300);
  for (let request = 0; request < 4000; request++) {
    arrive({ network: `flood ${request % 4}`, client: `client ${request % 97}` });
    runNext();
  }
  expect(places.open()).toBeLessThan(280);
  expect(arrive(someone).state).toBe('waiting');
});

it('a client of one network takes the place of another client’s, where each session and key is a client', () => {
  const { arrive, inState } = observed(20);
  for (let request = 0; request < 30; request++) arrive({ network: 'proxy', client: 'flood' });
  expect(inState('waiting')).toHaveLength(15);
  for (let request = 0; request < 7; request++) arrive({ network: 'proxy', client: 'honest' });
  const waiting = inState('waiting').map(({ client }) => client);
  expect([waiting.length, waiting.filter((client) => client === 'honest').length]).toEqual([15, 7]);
});

it('what has started has the next turn of its client', () => {
  const places = createPlaces(10, megabyte);
  const order: string[] = [];
  const start = (name: string) => {
    const place = places.take(someone, 0);
    place.start({ run: () => order.push(name), refuse: () => {} });
    return place;
  };
  const first = start('first');
  places.next()?.();
  start('second');
  first.continue(() => order.push('first again'));
  while (places.waiting() > 0) places.next()?.();
  expect(order).toEqual(['first', 'first again', 'second']);
});

it('what has started keeps its place, also where its network has the most', () => {
  const { places, arrive, runNext, continueLater, inState } = observed(10);
  for (let request = 0; request < 5; request++) arrive({ network: 'heavy', client: 'started' });
  for (let request = 0; request < 5; request++) runNext();
  continueLater(inState('started')[0]);
  for (let request = 0; request < 3; request++) arrive({ network: 'other', client: 'waiting' });
  expect(places.displace(someone)).toBe(true);
  expect(inState('refused').map(({ network }) => network)).toEqual(['other']);
});

it('the bodies of a few networks leave room for those of others', () => {
  const places = createPlaces(300, 32 * megabyte);
  for (let body = 0; body < 100; body++) {
    const flood = { network: `flood ${body % 4}`, client: 'flood' };
    if (places.hasBytes(flood, megabyte)) places.take(flood, megabyte);
  }
  expect(places.openOf({ network: 'flood 1', client: 'flood' })).toBeGreaterThan(5);
  for (let body = 0; body < 3; body++) {
    expect(places.hasBytes(someone, megabyte)).toBe(true);
    places.take(someone, megabyte);
  }
});

it('200,000 clients that come and go need no memory', () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const places = createPlaces(300, 32 * megabyte);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 200_000; at++) {
    const requester = { network: `network ${at >> 4}`, client: `client ${at}` };
    const place = places.take(requester, 1);
    place.start({ run: () => {}, refuse: () => {} });
    if (at % 2 === 0) places.next()?.();
    place.leave();
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5 * megabyte);
});
