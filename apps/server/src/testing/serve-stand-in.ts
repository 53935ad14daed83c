// The service with a stand-in for the built application, for tests of the process around it.
import { parseConfig } from '@gatehouse/api/config';
import { runService } from '../service.ts';

try {
  await runService(parseConfig(process.env), new URL('stand-in.ts', import.meta.url));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
