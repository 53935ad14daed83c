import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const folder = import.meta.dirname;
const speed = 'speed.bench.ts';

/**
 * `npm run bench`: runs every *.bench.ts of this folder, or those whose names contain one of the
 * arguments, one after the other so that they do not disturb each other. Any other argument names a row
 * of the measurement `speed`. Returns the highest exit code.
 */
function bench(args: string[]): number {
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.bench.ts'));
  const rows = args.filter((part) => !files.some((file) => file.includes(part)));
  const chosen = files.filter((file) => args.length === 0 || args.some((part) => file.includes(part)));
  if (rows.length > 0 && !chosen.includes(speed)) chosen.push(speed);

  const codes = chosen.sort().map((file) => {
    process.stderr.write(`\n${file.replace('.bench.ts', '')}\n`);
    const measured = spawnSync(process.execPath, [path.join(folder, file), ...(file === speed ? rows : [])], {
      stdio: 'inherit',
    });
    return measured.status ?? 1;
  });
  return Math.max(0, ...codes);
}

process.exitCode = bench(process.argv.slice(2));
