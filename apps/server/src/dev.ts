import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseConfig } from '@gatehouse/api/platform/config';
import { keepDatabase } from './database/keep-database.ts';
import { processLog } from './process-log.ts';
import { onShutdownSignal } from './shutdown-signals.ts';

const web = fileURLToPath(new URL('../../web', import.meta.url));

try {
  process.exit(await develop());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/**
 * Runs the development server: vite serves the pages from their sources, with the same database
 * as the built service. Arguments are passed to vite. Returns vite's exit code.
 *
 * @throws Error whose message is a sentence that says why it cannot start.
 */
async function develop(): Promise<number> {
  const config = parseConfig(process.env);
  const database = keepDatabase(config.dataDir, processLog(config));
  const url = config.databaseUrl ?? (await database.start());

  const address = ['--host', config.host, '--port', String(config.port), '--strictPort'];
  const vite = spawn('pnpm', ['exec', 'vite', 'dev', ...address, ...process.argv.slice(2)], {
    cwd: web,
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(vite, 'exit');

  onShutdownSignal(async () => {
    vite.kill('SIGTERM');
    await exited;
  });
  const [code] = await exited;
  await database.stop();
  return code ?? 0;
}
