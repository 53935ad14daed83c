import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '@gatehouse/api/testing/free-ports';
import { caddy, composeCaddy, haproxy } from '@gatehouse/api/testing/reverse-proxies';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const callers = 3;
// One restart of the nodes serves all proxies.
const proxies = [haproxy, caddy, composeCaddy];
const installed = proxies.filter(({ isInstalled }) => isInstalled);

describe.skipIf(installed.length === 0)('a rolling restart (skipped without HAProxy and Caddy)', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-rolling-'));
  const nodes: Program[] = [];
  const running: { stop: () => Promise<void> }[] = [];
  const statuses = new Map<string, Map<string, number>>();
  let ports: [number, number];
  let firstFront: number;

  beforeAll(async () => {
    const first = await freePorts(2 + installed.length);
    ports = [first, first + 1];
    firstFront = first + 2;
    nodes.push(...(await Promise.all([start(0), start(1)])));
    for (const [at, proxy] of installed.entries()) {
      running.push(await proxy.start(folder, { nodes: ports, front: firstFront + at }));
    }

    let isOver = false;
    const loads = installed.flatMap(({ name }, at) => {
      const seen = new Map<string, number>();
      statuses.set(name, seen);
      return Array.from({ length: callers }, (_, caller) => load(firstFront + at, caller, seen, () => isOver));
    });
    // The proxies have probed each node, and each node knows that it is probed.
    await pause(2_500);

    for (const at of [0, 1]) {
      const node = nodes[at] as Program;
      node.child.kill('SIGTERM');
      expect((await node.ended).code).toBe(0);
      nodes[at] = await start(at);
      await pause(2_000);
    }
    isOver = true;
    await Promise.all(loads);
  });

  afterAll(async () => {
    await Promise.all(running.map((proxy) => proxy.stop()));
    for (const { child } of nodes) child.kill('SIGTERM');
    await Promise.all(nodes.map(({ ended }) => ended));
    fs.rmSync(folder, { recursive: true, force: true });
  });

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

  for (const { name, isInstalled } of proxies) {
    test.skipIf(!isInstalled)(`under load behind ${name} fails no request, of GET and of POST`, () => {
      const seen = statuses.get(name) ?? new Map();
      expect([...seen.keys()]).toEqual(['200']);
      expect(seen.get('200')).toBeGreaterThan(100);
    });
  }
});

/** Sends GET and POST in turn, some of which take long, and counts the statuses. */
async function load(front: number, caller: number, seen: Map<string, number>, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const request: RequestInit = turn % 2 === 0 ? {} : { method: 'POST', body: 'a=1' };
    const target = turn % 7 === caller ? '/slow' : '/x';
    const status = await fetch(`http://127.0.0.1:${front}${target}`, request).then(
      async (response) => {
        await response.text();
        return String(response.status);
      },
      (error: Error) => String(error.cause ?? error),
    );
    seen.set(status, (seen.get(status) ?? 0) + 1);
    await pause(10);
  }
}
