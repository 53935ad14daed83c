import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'].find(fs.existsSync);

/** Whether an nginx that knows auth_request is on this machine. */
export function hasNginx(): boolean {
  if (program === undefined) return false;
  return spawnSync(program, ['-V'], { encoding: 'utf8' }).stderr.includes('http_auth_request_module');
}

/** The `server` block that the README gives, with its three addresses put in the place of the examples. */
export function readmesServer({ port, gatehouse, upstream }: { port: number; gatehouse: string; upstream: string }) {
  const readme = fs.readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
  const block = /```nginx\n(.*?)```/s.exec(readme)?.[1];
  if (block === undefined) throw new Error('The README has no configuration for nginx.');

  return block
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('server_name app.example.com;', 'server_name localhost;')
    .replaceAll('https://id.example.com', gatehouse)
    .replaceAll('http://127.0.0.1:8080', upstream);
}

/** An nginx of its own, in a folder of its own, never the machine's. */
export async function startNginx(port: number, server: string): Promise<{ stop: () => Promise<void> }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  fs.writeFileSync(
    path.join(folder, 'nginx.conf'),
    `${user} daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${server} }`,
  );
  const child = spawn(program ?? 'nginx', ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listening(child, port);

  return {
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let printed = '';
  child.stderr?.on('data', (bytes) => {
    printed += bytes;
  });
  for (let attempt = 0; attempt < 100; attempt++) {
    if (child.exitCode !== null) throw new Error(`nginx did not start: ${printed}`);
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nginx does not listen: ${printed}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.end();
      resolve(true);
    });
  });
}
