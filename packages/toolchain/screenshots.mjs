import { bootstrap } from './bootstrap.mjs';
import { browserEnvironment } from './browser.mjs';
import { build } from './build.mjs';
import { endAll, launch } from './children.mjs';
import { programEnvironment } from './surroundings.mjs';

/** Writes a picture of every page: e2e/screenshots.ts says where and how. */
export async function screenshots(args) {
  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, ...(await browserEnvironment(process.env)), NODE_ENV: 'test' });
  const command = ['pnpm', '--filter', '@gatehouse/e2e', 'exec', 'playwright', 'test', '--project=screenshots'];
  await endAll(await launch([...command, ...args], { env }).exited);
}
