import { readEnvironment } from './environment.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

let sandbox: Sandbox | undefined;
let ending = false;

process.once('SIGTERM', end);
process.once('SIGINT', end);

try {
  sandbox = await startSandbox(readEnvironment(process.env));
  console.log('ready');
  if (ending) await end();
} catch (error) {
  console.error(sentence(error));
  process.exit(1);
}

/** A signal during the start only sets `ending`; the start then calls this function again. */
async function end(): Promise<void> {
  ending = true;
  const running = sandbox;
  sandbox = undefined;
  if (!running) return;
  await running.close();
  process.exit(0);
}

function sentence(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `The sandbox cannot listen: port ${(error as { port?: number }).port} is in use.`;
  return message;
}
