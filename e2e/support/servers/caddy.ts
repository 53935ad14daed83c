import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findProgram, startProgram } from '@gatehouse/api/testing/server-program';
import { documentedBlocks } from './documented.ts';

const program = findProgram('caddy');

export const hasCaddy = program !== undefined;

/** Returns the site of the documented Caddy configuration, with its three addresses replaced. */
export function documentedSite({ port, gatehouse, upstream }: { port: number; gatehouse: string; upstream: string }) {
  const block = documentedBlocks('caddyfile').find((text) => text.includes('app.example.com {')) ?? '';
  return block
    .replace('app.example.com {', `http://localhost:${port} {`)
    .replaceAll('https://id.example.com', gatehouse)
    .replaceAll('127.0.0.1:8080', new URL(upstream).host);
}

/** Starts a separate Caddy with its own folder. */
export async function startCaddy(port: number, site: string): Promise<{ stop: () => Promise<void> }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-caddy-'));
  const file = path.join(folder, 'Caddyfile');
  fs.writeFileSync(file, `{\n  admin off\n  auto_https off\n}\n${site}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  const running = await startProgram(program ?? 'caddy', args, { port, env });

  return {
    async stop() {
      await running.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
