import { defineConfig } from 'tsdown';

// One file and its types, with no import in either: whoever installs it needs nothing of the service.
export default defineConfig({
  entry: ['src/client.ts'],
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  clean: true,
  dts: { oxc: true },
  publint: { strict: true },
});
