import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type Procedure = { path: string; isMutation: boolean; fields: string[] };

const script = fileURLToPath(new URL('../../../packages/api/src/testing/print-procedures.ts', import.meta.url));

/**
 * Returns every procedure of the router. It is read in a process of its own, because every process of
 * Playwright loads what a spec file imports, and the whole router takes seconds.
 */
export function readProcedures(): Procedure[] {
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
}
