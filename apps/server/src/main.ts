import { version } from '@gatehouse/api/platform/config-version';
import { loadEnvFile } from './env-file.ts';
import { importProgram, runService } from './service.ts';

const build = new URL('../../web/build/', import.meta.url);

if (process.argv[2] === '--version') {
  process.stdout.write(`${version}\n`);
  process.exit(0);
}

try {
  const warnings = loadEnvFile();
  process.env.NODE_ENV ||= 'production';
  const program = await importProgram(build);
  const config = program.parseConfig(process.env);
  await runService({ ...config, warnings: [...warnings, ...config.warnings] }, program);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
