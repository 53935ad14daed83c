import fs from 'node:fs';
import path from 'node:path';
import { create } from 'tar';

/** 2020-01-01, unless SOURCE_DATE_EPOCH is set: the same files make the same archive. */
const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? 1_577_836_800);

/** Writes a folder as a gzipped tar archive, in alphabetical order, without owners and with one time for all files. */
export function archive(folder: string, file: string): void {
  const parent = path.dirname(folder);
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  create(
    {
      sync: true,
      file,
      cwd: parent,
      gzip: { level: 9 },
      portable: true,
      noDirRecurse: true,
      mtime: new Date(seconds * 1000),
      onWriteEntry: ({ stat }) => {
        // The modes do not depend on this machine's umask: all files can be read, and those that are executable here, run.
        if (stat !== undefined) stat.mode = stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644;
      },
    },
    [path.basename(folder), ...names.map((name) => path.join(path.basename(folder), name))],
  );
}
