import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { startWorld } from '../support/processes/production-world.ts';
import { startServed } from '../support/processes/served.ts';
import { expect, test } from '../support/service.ts';
import { runStory } from '../support/story.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('a production service runs the same story, configured by environment variables only', async ({ browser }) => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const world = await startWorld(baseUrl, { empty: true });
  const served = await startServed(port, world.environment);

  const context = await browser.newContext({ baseURL: baseUrl });
  await runStory(world.asService(served), { browser, page: await context.newPage() });

  await context.close();
  await served.stop();
  await world.stop();
});

test('the production build contains no code of the sandbox', () => {
  const found = execFileSync('sh', [
    '-c',
    `grep -rlE 'packages/sandbox|Sandbox payments|oidc-provider' '${root}apps/web/build' '${root}apps/server/dist' '${root}packages/api/dist' || true`,
  ]);
  expect(found.toString()).toBe('');
});
