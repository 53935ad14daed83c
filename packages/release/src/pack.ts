import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { archive } from './archive.ts';
import { ReleaseError, root, stage } from './stage.ts';

/** `npm run pack`: writes gatehouse-VERSION.tar.gz, which runs with Node alone. `--embedded` adds PostgreSQL. */
function pack(options: string[]): void {
  const unknown = options.find((option) => option !== '--embedded');
  if (unknown !== undefined) throw new ReleaseError(`There is no option ${unknown} here: npm run pack -- [--embedded]`);

  // As the build tells it, so that the two cannot differ.
  const program = path.join(root, 'apps/server/dist/main.js');
  const version = execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }).trim();
  const name = `gatehouse-${version}`;
  const file = path.join(root, `${name}.tar.gz`);
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-pack-'));
  try {
    stage(path.join(temporary, name), { version, embedded: options.includes('--embedded') });
    archive(path.join(temporary, name), file);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
  const megabytes = (fs.statSync(file).size / 1_000_000).toFixed(1);
  process.stderr.write(`${name}.tar.gz  ${megabytes} MB, for ${process.platform} ${process.arch}\n`);
}

try {
  pack(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
