import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bootstrap } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { log, UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { stage } from '../release/stage.mjs';
import { archive } from '../release/tar.mjs';

/** `npm run pack`: writes gatehouse-VERSION.tar.gz, which runs with Node alone. `--embedded` adds PostgreSQL. */
export async function pack(args) {
  const unknown = args.find((argument) => argument !== '--embedded');
  if (unknown !== undefined) throw new UserError(`There is no option ${unknown} here: npm run pack -- [--embedded]`);
  await bootstrap();
  await build(['web', 'server']);

  const { version } = JSON.parse(fs.readFileSync(fromRoot('package.json'), 'utf8'));
  const name = `gatehouse-${version}`;
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-pack-'));
  try {
    stage(path.join(temporary, name), { version, embedded: args.includes('--embedded') });
    const bytes = archive(path.join(temporary, name));
    fs.writeFileSync(fromRoot(`${name}.tar.gz`), bytes);
    log(`${name}.tar.gz  ${(bytes.length / 1_000_000).toFixed(1)} MB, for ${process.platform} ${process.arch}`);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}
