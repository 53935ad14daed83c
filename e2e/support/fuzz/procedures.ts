import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runFolder } from '../processes/data-directory.ts';

export type Procedure = { path: string; isMutation: boolean; fields: string[] };

const script = fileURLToPath(new URL('../../../packages/api/src/testing/print-procedures.ts', import.meta.url));

/**
 * Returns every procedure of the router. It is read once for a run, in a process of its own, because every process of
 * Playwright loads what a spec file imports, and the whole router takes seconds.
 */
export function readProcedures(): Procedure[] {
  const known = path.join(runFolder(), 'procedures.json');
  if (!fs.existsSync(known)) {
    const unfinished = `${known}.${process.pid}`;
    fs.writeFileSync(unfinished, execFileSync(process.execPath, [script]));
    fs.renameSync(unfinished, known);
  }
  return JSON.parse(fs.readFileSync(known, 'utf8'));
}
