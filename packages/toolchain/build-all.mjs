import { bootstrap } from './bootstrap.mjs';
import { build } from './build.mjs';

/** Production's first command: builds all of it anew. */
export async function buildAll() {
  await bootstrap();
  await build(['web', 'server', 'client'], { always: true });
}
