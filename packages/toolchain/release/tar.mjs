import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const blockSize = 512;
/** 2020-01-01, unless SOURCE_DATE_EPOCH is set: the same files make the same archive. */
const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? 1_577_836_800);

/**
 * Returns a folder as a gzipped ustar archive (POSIX.1-1988), in alphabetical order, owned by root and
 * with one time for all files. The `tar` programs of Linux distributions and macOS take different
 * options for this.
 */
export function archive(folder) {
  const blocks = entries(folder, path.basename(folder)).flatMap(({ name, file, mode }) => {
    const content = file === null ? Buffer.alloc(0) : fs.readFileSync(file);
    const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
    return [header(name, content.length, mode, file === null ? '5' : '0'), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]), { level: 9 });
}

function entries(folder, name) {
  const children = fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    { name: `${name}/`, file: null, mode: 0o755 },
    ...children.flatMap((child) => {
      const file = path.join(folder, child.name);
      if (child.isDirectory()) return entries(file, `${name}/${child.name}`);
      const isExecutable = (fs.statSync(file).mode & 0o100) !== 0;
      return [{ name: `${name}/${child.name}`, file, mode: isExecutable ? 0o755 : 0o644 }];
    }),
  ];
}

function header(name, size, mode, type) {
  const block = Buffer.alloc(blockSize);
  // A name of more than 100 bytes is divided at a slash into prefix and name.
  const cut = name.length <= 100 ? 0 : name.indexOf('/', name.length - 101) + 1;
  if (name.length > 100 && (cut === 0 || cut > 156)) throw new Error(`The path is too long for an archive: ${name}`);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;

  block.write(name.slice(cut), 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(seconds, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  block.write('root', 265);
  block.write('root', 297);
  if (cut > 0) block.write(name.slice(0, cut - 1), 345);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
