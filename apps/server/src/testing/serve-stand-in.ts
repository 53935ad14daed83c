// The service with a stand-in for the built application, for tests of the process around it.
import { fileURLToPath } from 'node:url';
import { parseConfig } from '@gatehouse/api/platform/config';
import { runService } from '../service.ts';
import { openStandIn } from './stand-in.ts';

try {
  await runService(parseConfig(process.env), {
    open: openStandIn,
    migrations: fileURLToPath(new URL('migrations', import.meta.url)),
  });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
