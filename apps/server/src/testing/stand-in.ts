import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '@gatehouse/api/platform/config';
import type { OpenApplication } from '../service.ts';

const slowMilliseconds = 700;
const spinMilliseconds = 5;

// Set before the service listens, so that a test may send the signal from then on.
const signalled = new Promise((resolve) => process.once('SIGUSR2', resolve));

/**
 * Opens a stand-in for the application after STAND_IN_INIT, which is a number of milliseconds or the signal `SIGUSR2`.
 *
 * @throws Error with the sentence of STAND_IN_FAILS, if that is set.
 */
export async function openStandIn(config: Config): Promise<OpenApplication> {
  const { STAND_IN_INIT: after = '0' } = process.env;
  await (after === 'SIGUSR2' ? signalled : new Promise((resolve) => setTimeout(resolve, Number(after))));
  if (process.env.STAND_IN_FAILS) throw new Error(process.env.STAND_IN_FAILS);

  return {
    // No path is one of the API.
    api: () => null,
    // Counted here, because a test on a busy machine reads its answers late.
    async readiness() {
      console.log(`probed after ${rendered} pages, ${held} held`);
      return null;
    },
    countRefusal: () => {},
    logFailure: console.error,
    beginShutdown: () => {},
    close,
    pages: (request, response, next) => answer(config, { request, response, next }),
  };
}

async function close() {
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.STAND_IN_CLOSE ?? 50)));
  console.log('the application has closed');
}

type Exchange = { request: IncomingMessage; response: ServerResponse; next: () => void };

/**
 * Responds with the request that it received, and with the most /slow that were processed at once. /slow responds after
 * 700 ms, even if its client has disconnected, /spin after 5 ms of the processor, /read
 * after the body, /held at the next /api/release.
 */
async function answer(config: Config, { request, response, next }: Exchange): Promise<void> {
  if (request.url === '/nowhere') {
    next();
    return;
  }

  if (request.url === '/held' || request.url === '/webhooks/payment?held') {
    held += 1;
    await released.promise;
    held -= 1;
    response.end();
    return;
  }

  if (request.url === '/api/release') {
    released.resolve();
    released = Promise.withResolvers();
  }
  if (request.url === '/spin') {
    for (const end = performance.now() + spinMilliseconds; performance.now() < end; );
    rendered += 1;
    response.end();
    return;
  }

  if (request.url === '/read') {
    request.resume().once('end', () => response.end());
    return;
  }

  if (request.url === '/slow') {
    slow += 1;
    mostSlow = Math.max(mostSlow, slow);
    await new Promise((resolve) => setTimeout(resolve, slowMilliseconds));
    slow -= 1;
  }
  const text = JSON.stringify({
    url: request.url,
    headers: request.headers,
    databaseUrl: config.databaseUrl,
    mostSlow,
  });
  setTimeout(() => response.end(text));
}

let slow = 0;
let mostSlow = 0;

let rendered = 0;
let held = 0;
let released = Promise.withResolvers<void>();
