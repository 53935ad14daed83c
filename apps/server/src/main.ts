import { type Config, parseConfig } from '@gatehouse/api/platform/config';
import { version } from '@gatehouse/api/platform/config-version';
import { openApi } from './application.ts';
import { loadEnvFile } from './env-file.ts';
import { type OpenApplication, runService } from './service.ts';

const pagesHandler = new URL('../../web/build/handler.js', import.meta.url);

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') {
  process.stdout.write(`${version}\n`);
  process.exit(0);
}
if (args.length > 0) {
  process.stderr.write('The service takes no arguments but --version: its settings are environment variables.\n');
  process.exit(2);
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

/** Opens the two halves of the service: the API, and the pages, which are Kit's build. */
async function openApplication(config: Config): Promise<OpenApplication> {
  // Kit's modules are loaded while the database answers. Kit's hook awaits the same App.
  const opening = openApi(config);
  const [api, { handler }] = await Promise.all([opening, import(pagesHandler.href)]);
  return { ...api, pages: handler };
}
