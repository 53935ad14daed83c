import { parseConfig } from '@gatehouse/api/platform/config';
import { version } from '@gatehouse/api/platform/config-version';
import { openApplication } from './application.ts';
import { loadEnvFile } from './env-file.ts';
import { runService } from './service.ts';

if (process.argv[2] === '--version') {
  process.stdout.write(`${version}\n`);
  process.exit(0);
}

try {
  const warnings = loadEnvFile();
  process.env.NODE_ENV ||= 'production';
  const config = parseConfig(process.env);
  await runService({ ...config, warnings: [...warnings, ...config.warnings] }, openApplication);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
