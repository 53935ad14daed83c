import { type Config, parseConfig } from '@gatehouse/api/config';
import { version } from '@gatehouse/api/config-version';
import { loadEnvFile } from './env-file.ts';
import { runService } from './service.ts';

const handler = new URL('../../web/build/handler.js', import.meta.url);
const hooks = new URL('server/entries/hooks.server.js', handler);

if (process.argv[2] === '--version') {
  process.stdout.write(`${version}\n`);
  process.exit(0);
}

try {
  await runService(readConfig(), { handler, hooks });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function readConfig(): Config {
  loadEnvFile();
  process.env.NODE_ENV ||= 'production';
  return parseConfig(process.env);
}
