// The service with a stand-in for the built application, for tests of the process around it.
import { parseConfig } from '@gatehouse/api/platform/config';
import { runService } from '../service.ts';
import { openStandIn } from './stand-in.ts';

try {
  await runService(parseConfig(process.env), openStandIn);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
