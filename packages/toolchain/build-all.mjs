import { bootstrap } from './bootstrap.mjs';
import { build } from './build.mjs';

/** `npm run build`: builds everything again, also if nothing has changed. */
export async function buildAll() {
  await bootstrap();
  await build(['web', 'server', 'client'], { always: true });
}
