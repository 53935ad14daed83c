import { defineConfig } from 'tsdown';

// One file and its types, both without imports: the client needs no package of the service.
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
