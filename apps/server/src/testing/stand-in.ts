import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '@gatehouse/api/config';
import type { Application } from '../http-server.ts';

const slowMilliseconds = 700;
const spinMilliseconds = 5;

/**
 * Opens a stand-in for the application after STAND_IN_INIT milliseconds.
 *
 * @throws Error with the sentence of STAND_IN_FAILS, if that is set.
 */
export async function openStandIn(settings: { config: Config; migrations: string }): Promise<Application> {
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.STAND_IN_INIT ?? 0)));
  if (process.env.STAND_IN_FAILS) throw new Error(process.env.STAND_IN_FAILS);

  process.on('sveltekit:shutdown' as NodeJS.Signals, close);
  return {
    // No path is one of a REST endpoint.
    rest: () => false,
    readiness: async () => null,
    isRecent: ({ cookie }) => cookie === 'session=valid',
    countRefusal: () => {},
    pages: (request, response, next) => answer(settings, { request, response, next }),
  };
}

async function close() {
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.STAND_IN_CLOSE ?? 50)));
  console.log('the application has closed');
}

type Exchange = { request: IncomingMessage; response: ServerResponse; next: () => void };

/**
 * Responds with the request that it received. /slow responds after 700 ms, /spin after 5 ms of the processor, /read
 * after the body.
 */
function answer(settings: { config: Config; migrations: string }, { request, response, next }: Exchange): void {
  if (request.url === '/nowhere') {
    next();
    return;
  }

  if (request.url === '/spin') {
    for (const end = performance.now() + spinMilliseconds; performance.now() < end; );
    response.end();
    return;
  }

  if (request.url === '/read') {
    request.resume().once('end', () => response.end());
    return;
  }

  const text = JSON.stringify({
    url: request.url,
    headers: request.headers,
    databaseUrl: settings.config.databaseUrl,
    migrations: settings.migrations,
  });
  setTimeout(() => response.end(text), request.url === '/slow' ? slowMilliseconds : 0);
}
