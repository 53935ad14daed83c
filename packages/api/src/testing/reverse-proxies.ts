import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, startProgram } from './server-program.ts';

type Ports = { nodes: [number, number]; front: number };
type Running = { stop: () => Promise<void> };

type ReverseProxy = {
  name: string;
  isInstalled: boolean;
  /** Starts the proxy in front of two nodes on this machine, with its files in `folder`. */
  start: (folder: string, ports: Ports) => Promise<Running>;
};

const root = new URL('../../../../', import.meta.url);
const timeouts = 'defaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n\n';

/** HAProxy with the configuration of docs/proxies.md, whose addresses are replaced. */
export const haproxy: ReverseProxy = {
  name: 'the documented HAProxy',
  isInstalled: findProgram('haproxy') !== undefined,
  start(folder, { nodes, front }) {
    const block = documentedBlock('haproxy', 'frontend gatehouse').replace(':8443', `127.0.0.1:${front}`);
    const file = write(folder, 'haproxy.cfg', timeouts + withNodes(block, nodes, '10.0.0.11:3000', '10.0.0.12:3000'));
    return startProgram(findProgram('haproxy') ?? 'haproxy', ['-db', '-f', file], { port: front });
  },
};

/** Caddy with the configuration of docs/proxies.md. */
export const caddy: ReverseProxy = {
  name: 'the documented Caddy',
  isInstalled: findProgram('caddy') !== undefined,
  start(folder, { nodes, front }) {
    const block = documentedBlock('caddyfile', 'id.example.com {').replace('id.example.com', siteOf(front));
    return startCaddy(folder, front, withNodes(block, nodes, '10.0.0.11:3000', '10.0.0.12:3000'));
  },
};

/** Caddy with the configuration of compose.yaml. */
export const composeCaddy: ReverseProxy = {
  name: 'Caddy with deploy/Caddyfile',
  isInstalled: caddy.isInstalled,
  start(folder, { nodes, front }) {
    const text = fs.readFileSync(new URL('deploy/Caddyfile', root), 'utf8');
    return startCaddy(folder, front, withNodes(text, nodes, 'node-1:3000', 'node-2:3000'));
  },
};

function startCaddy(folder: string, front: number, sites: string): Promise<Running> {
  const own = fs.mkdtempSync(path.join(folder, 'caddy-'));
  const file = write(own, 'Caddyfile', `{\n  admin off\n  auto_https off\n}\n${sites}`);
  const env = { ...process.env, HOME: own, XDG_DATA_HOME: own, XDG_CONFIG_HOME: own, DOMAIN: siteOf(front) };
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  return startProgram(findProgram('caddy') ?? 'caddy', args, { port: front, env });
}

/** Without a host, so that the site also answers requests by address; without https, which needs a public name. */
function siteOf(front: number): string {
  return `http://:${front}`;
}

function documentedBlock(language: string, start: string): string {
  const page = fs.readFileSync(fileURLToPath(new URL('docs/proxies.md', root)), 'utf8');
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))];
  const block = blocks.map(([, text = '']) => text).find((text) => text.startsWith(start));
  if (block === undefined) throw new Error(`docs/proxies.md has no block of ${language} that starts with ${start}`);
  return block;
}

function withNodes(text: string, ports: Ports['nodes'], ...addresses: [string, string]): string {
  return addresses.reduce((result, address, at) => {
    if (!result.includes(address)) throw new Error(`The configuration does not name ${address}.`);
    return result.replace(address, `127.0.0.1:${ports[at]}`);
  }, text);
}

function write(folder: string, name: string, text: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}
