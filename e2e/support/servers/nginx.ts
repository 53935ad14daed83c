import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findProgram, startProgram } from '@gatehouse/api/testing/server-program';
import { documentedBlocks } from './documented.ts';

const program = findProgram('nginx');

/** Whether this machine has an nginx with auth_request. */
export function hasNginx(): boolean {
  if (program === undefined) return false;
  return spawnSync(program, ['-V'], { encoding: 'utf8' }).stderr.includes('http_auth_request_module');
}

/** Returns the `server` block of docs/proxies.md, with its three addresses replaced. */
export function documentedServer({ port, gatehouse, upstream }: { port: number; gatehouse: string; upstream: string }) {
  return (documentedBlocks('nginx')[0] ?? '')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('server_name app.example.com;', 'server_name localhost;')
    .replaceAll('https://id.example.com', gatehouse)
    .replaceAll('http://127.0.0.1:8080', upstream);
}

type OneHost = { listen: string; name: string; gatehouse: string; upstream: string };

/** Returns the `server` block for one host: with the product at /app/, or Gatehouse at its own paths only. */
export function documentedOneHost({ listen, name, gatehouse, upstream }: OneHost, pathsOf: 'product' | 'gatehouse') {
  const [, server = '', location = ''] = documentedBlocks('nginx');
  const turned = server.replace('location / {', location.trim()).replace('location /app/ {', 'location / {');
  return (pathsOf === 'product' ? server : turned)
    .replace('listen 443 ssl;', listen)
    .replace('server_name example.com;', `server_name ${name};`)
    .replaceAll('http://127.0.0.1:3000', gatehouse)
    .replaceAll('http://127.0.0.1:8080', upstream);
}

/**
 * Starts a separate nginx with its own folder. It allows underscores in headers globally, as
 * another site on the same nginx may need, so that the tested `server` block has to refuse them.
 */
export async function startNginx(port: number, server: string): Promise<{ stop: () => Promise<void> }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  fs.writeFileSync(
    path.join(folder, 'nginx.conf'),
    `${user} daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; underscores_in_headers on; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${server} }`,
  );
  const args = ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`];
  const running = await startProgram(program ?? 'nginx', args, { port });

  return {
    async stop() {
      await running.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
