import { defineConfig } from 'tsdown';

// Builds each entry with its types, and without imports of packages: the client needs no package of the service.
export default defineConfig({
  entry: {
    client: 'src/client.ts',
    express: 'src/adapters/express.ts',
    hono: 'src/adapters/hono.ts',
    next: 'src/adapters/next.ts',
    sveltekit: 'src/adapters/sveltekit.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  clean: true,
  dts: true,
  publint: { strict: true },
});
