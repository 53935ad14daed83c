import type { IncomingMessage, ServerResponse } from 'node:http';

const slowMilliseconds = 700;

// Simulates the duration of Kit's init.
await new Promise((resolve) => setTimeout(resolve, Number(process.env.STAND_IN_INIT ?? 0)));
if (process.env.STAND_IN_FAILS) throw new Error(process.env.STAND_IN_FAILS);

process.on('sveltekit:shutdown' as NodeJS.Signals, async () => {
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.STAND_IN_CLOSE ?? 50)));
  console.log('the application has closed');
});

/** Responds with the request that it received; /slow responds after 700 ms. */
export function handler(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (request.url === '/nowhere') {
    next();
    return;
  }

  const answer = JSON.stringify({
    url: request.url,
    headers: request.headers,
    databaseUrl: process.env.DATABASE_URL,
    migrations: process.env.GATEHOUSE_MIGRATIONS,
  });
  setTimeout(() => response.end(answer), request.url === '/slow' ? slowMilliseconds : 0);
}

/** No path is one of a REST endpoint. */
export const restHandler = () => () => false;
