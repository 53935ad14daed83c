import { defineConfig } from 'tsdown';

// Loading the modules of the libraries one by one takes five times as long as the rest of a start.
export default defineConfig({
  entry: 'src/main.ts',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  fixedExtension: false,
  clean: true,
  dts: false,
  outputOptions: { comments: false },
  deps: { alwaysBundle: [/.*/], onlyBundle: false },
});
