import { defineConfig } from 'tsdown';
import { buildVersion } from './build-version.ts';

// One file, but for what is loaded on demand: reading drizzle-orm module by module costs more than all the rest of the start.
export default defineConfig({
  entry: 'src/bundle.ts',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  fixedExtension: false,
  clean: true,
  dts: false,
  // A release has none: see packages/release.
  sourcemap: true,
  plugins: [buildVersion()],
  outputOptions: { comments: false },
  deps: { alwaysBundle: [/.*/], onlyBundle: false, neverBundle: ['@node-rs/argon2', '@node-rs/bcrypt'] },
});
