import { bootstrap } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';

/** `npm run build`: builds everything again, also if nothing has changed. */
export async function buildAll() {
  await bootstrap();
  await build(['web', 'server', 'client'], { always: true });
}
