import { type Config, parseConfig } from '@gatehouse/api/config';
import { loadEnvFile } from './env-file.ts';
import { runService } from './service.ts';

const handler = new URL('../../web/build/handler.js', import.meta.url);

try {
  await runService(readConfig(), handler);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function readConfig(): Config {
  loadEnvFile();
  process.env.NODE_ENV ||= 'production';
  return parseConfig(process.env);
}
