import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { type Program, startProgram } from './program.ts';

const web = path.resolve(import.meta.dirname, '../../../../apps/web');

/** The baseline of pages: an app of one page with a form, which reads no session and no database. */
const files: Record<string, string> = {
  'package.json': '{ "name": "bare-page", "private": true, "type": "module" }',
  'vite.config.js': `
    import adapter from '@sveltejs/adapter-node';
    import { sveltekit } from '@sveltejs/kit/vite';
    export default { plugins: [sveltekit({ adapter: adapter() })] };`,
  'src/app.html':
    '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>',
  'src/routes/+page.server.js': 'export const actions = { default: () => ({ done: true }) };',
  'src/routes/+page.svelte': `
    <script>
      import { enhance } from '$app/forms';
      let { form } = $props();
    </script>
    <svelte:head><title>Sign in</title></svelte:head>
    <h1>Sign in</h1>
    {#if form}<p>Done.</p>{/if}
    <form method="POST" use:enhance>
      <label>E-mail <input name="email" type="email" autocomplete="username" required></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
      <button>Sign in</button>
    </form>`,
};

/**
 * Builds the bare page in the folder, with the packages of apps/web, and starts it.
 *
 * @throws Error if the build fails.
 */
export async function startBarePage(folder: string): Promise<Program> {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  fs.symlinkSync(path.join(web, 'node_modules'), path.join(folder, 'node_modules'));
  const vite = path.join(web, 'node_modules/vite/bin/vite.js');
  const build = spawn(process.execPath, [vite, 'build', '--logLevel', 'error'], { cwd: folder, stdio: 'inherit' });
  const [code] = await once(build, 'exit');
  if (code !== 0) throw new Error(`The bare page was not built: vite ended with ${code}.`);
  return startProgram(path.join(folder, 'build/index.js'), {}, '/');
}
