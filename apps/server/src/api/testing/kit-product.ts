import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const fromRoot = (file: string) => fileURLToPath(new URL(`../../../../../${file}`, import.meta.url));
const timeoutMilliseconds = 100_000;

/** The files of a SvelteKit application that is guarded by the client's adapter. */
const files = {
  'package.json': '{ "name": "product", "private": true, "type": "module" }',
  'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite';
    export default { cacheDir: '.vite', plugins: [sveltekit()] };`,
  'src/app.html': '<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
  'src/hooks.server.js': `import { createGatehouse } from '${fromRoot('packages/client/src/client.ts')}';
    import { requireSession } from '${fromRoot('packages/client/src/adapters/sveltekit.ts')}';
    const gatehouse = createGatehouse({ url: process.env.GATEHOUSE_URL });
    export const handle = requireSession(gatehouse, { origin: 'https://app.example.com' });`,
  'src/routes/notes/+server.js': 'export const GET = ({ locals }) => Response.json({ id: locals.session.user.id });',
};

/** Starts that application by SvelteKit's own server, in a process and a folder of its own. */
export async function startKitProduct(gatehouseUrl: string): Promise<{ url: string; stop: () => void }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-kit-'));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  fs.symlinkSync(fromRoot('apps/web/node_modules'), path.join(folder, 'node_modules'));
  const vite = path.join(folder, 'node_modules/vite/bin/vite.js');
  const child = spawn(process.execPath, [vite, 'dev', '--host', '127.0.0.1', '--port', '0'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'development', GATEHOUSE_URL: gatehouseUrl, NO_COLOR: '1' },
  });

  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`SvelteKit did not start:\n${printed}`)), timeoutMilliseconds);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        printed += bytes;
        const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
        if (address === undefined) return;
        clearTimeout(timer);
        resolve(address);
      });
    }
  });
  return {
    url,
    stop() {
      child.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
      child.kill();
    },
  };
}
