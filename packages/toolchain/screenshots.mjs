import { bootstrap } from './bootstrap.mjs';
import { browserEnvironment } from './browser.mjs';
import { build } from './build.mjs';
import { endAll, launch } from './children.mjs';
import { programEnvironment } from './surroundings.mjs';

export const playwrightCommand = ['e2e/node_modules/.bin/playwright', 'test', '--config=e2e/playwright.config.ts'];

/** Writes a picture of every page: e2e/screenshots.ts says where and how. */
export async function screenshots(args) {
  await bootstrap();
  await build(['web', 'server']);
  const browser = await browserEnvironment(process.env);
  const env = programEnvironment({ ...process.env, ...browser, NODE_ENV: 'test', GATEHOUSE_ENV_FILE: 'off' });
  await endAll(await launch([...playwrightCommand, '--project=screenshots', ...args], { env }).exited);
}
