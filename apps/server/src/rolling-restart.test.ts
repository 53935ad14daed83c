import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, startProgram } from '@gatehouse/api/testing/server-program';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const haproxy = findProgram('haproxy');

describe.skipIf(haproxy === undefined)(
  'behind HAProxy with the README’s configuration (skipped without HAProxy)',
  () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-rolling-'));
    const nodes: Program[] = [];
    let ports: number[];
    let proxy: Awaited<ReturnType<typeof startProgram>>;

    beforeAll(async () => {
      ports = await freePorts(3);
      nodes.push(await start(0), await start(1));
      const [first, second, front = 0] = ports;
      const readme = fs.readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');
      const block = /```haproxy\n(.*?)```/s.exec(readme)?.[1] ?? '';
      const config =
        `defaults\n  mode http\n  timeout connect 2s\n  timeout client 20s\n  timeout server 20s\n\n${block}`
          .replace(':8443', `127.0.0.1:${front}`)
          .replace('10.0.0.11:3000', `127.0.0.1:${first}`)
          .replace('10.0.0.12:3000', `127.0.0.1:${second}`);
      fs.writeFileSync(path.join(folder, 'haproxy.cfg'), config);
      proxy = await startProgram(haproxy ?? '', ['-db', '-f', path.join(folder, 'haproxy.cfg')], { port: front });
    }, 60_000);

    afterAll(async () => {
      await proxy?.stop();
      for (const { child, ended } of nodes) {
        child.kill('SIGTERM');
        await ended;
      }
      fs.rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    async function start(at: number): Promise<Program> {
      const node = runProgram(new URL('testing/serve-stand-in.ts', import.meta.url), [], {
        PORT: String(ports[at]),
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        LOG_FORMAT: 'json',
        STAND_IN_INIT: '300',
      });
      await node.prints('Serving on');
      return node;
    }

    test('a rolling restart under load fails no request, of GET and of POST', async () => {
      const statuses = new Map<string, number>();
      let isOver = false;
      async function load(at: number) {
        for (let turn = 0; !isOver; turn++) {
          const request: RequestInit = turn % 2 === 0 ? {} : { method: 'POST', body: 'a=1' };
          const target = turn % 7 === at ? '/slow' : '/x';
          const status = await fetch(`http://127.0.0.1:${ports[2]}${target}`, request).then(
            async (response) => {
              await response.text();
              return String(response.status);
            },
            (error: Error) => String(error.cause ?? error),
          );
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
      const callers = Array.from({ length: 8 }, (_, at) => load(at));
      await new Promise((resolve) => setTimeout(resolve, 2_500));

      for (const at of [0, 1]) {
        const node = nodes[at];
        node?.child.kill('SIGTERM');
        expect((await node?.ended)?.code).toBe(0);
        nodes[at] = await start(at);
        await new Promise((resolve) => setTimeout(resolve, 2_000));
      }
      isOver = true;
      await Promise.all(callers);
      expect([...statuses.keys()]).toEqual(['200']);
      expect(statuses.get('200')).toBeGreaterThan(100);
    }, 90_000);
  },
);

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
