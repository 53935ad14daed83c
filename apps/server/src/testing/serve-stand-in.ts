// The service with a stand-in for the built application, for tests of the process around it.
import { parseConfig } from '@gatehouse/api/config';
import { runService } from '../service.ts';

try {
  const handler = new URL('stand-in.ts', import.meta.url);
  await runService(parseConfig(process.env), { handler, hooks: handler });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
