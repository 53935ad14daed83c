import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveEndpoints } from '../testing/serve-endpoints.ts';

const fromRoot = (file: string) => fileURLToPath(new URL(`../../../../../${file}`, import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
beforeAll(async () => {
  test = await startTestApp();
  served = await serveEndpoints(test.app);
});
afterAll(async () => {
  await served.close();
  await test.close();
});

/** The function of the document, and what a sales tool does with it. */
const story = `
import os
from gatehouse import GatehouseError
gatehouse = Gatehouse(os.environ["GATEHOUSE_URL"], api_key=os.environ["GATEHOUSE_API_KEY"], timeout_seconds=30)
slug = provision(gatehouse, "mia@larch.example", "Larch & Sons")
owner = next(gatehouse.users("mia@larch.example"))
print(slug, owner["status"], gatehouse.entitlements(slug)["plan"]["tier"], gatehouse.check(slug, "api_calls")["limit"])
print(len(gatehouse.invite(slug, "tom@larch.example", "viewer")["url"]) > 40, len(list(gatehouse.invitations(slug))))
try:
    gatehouse.create_user("mia@larch.example", verified=True)
except GatehouseError as error:
    print(error.status, error.code, error.body["id"] == owner["id"])
gatehouse.end_override(slug)
print(gatehouse.entitlements(slug)["plan"]["tier"], gatehouse.act_on_user(owner["id"], "suspend")["status"])
print(gatehouse.act_on_organisation(slug, "suspend")["approval"])
gatehouse.delete_user(owner["id"])
print(list(gatehouse.users("mia@larch.example")), [each["slug"] for each in gatehouse.organisations()])
`;

it('a sales tool provisions, overrides, suspends and deletes by the Python client, as the document shows', async (context) => {
  if (!hasPython) context.skip('There is no python3 on this machine.');
  const section = fs.readFileSync(fromRoot('docs/integrate.md'), 'utf8').split('## Provision a customer')[1] ?? '';
  const sample = /```python\n(.*?)```/s.exec(section)?.[1] ?? '';
  const { key } = await makeKey(test, { scope: 'MANAGE' });
  const env = {
    ...process.env,
    GATEHOUSE_URL: served.url,
    GATEHOUSE_API_KEY: key,
    PYTHONPATH: fromRoot('packages/client-python'),
  };

  const printed = await new Promise<string>((resolve) => {
    const child = spawn('python3', ['-c', sample + story], { env });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        text += part;
      });
    }
    child.on('close', () => resolve(text));
  });
  expect(printed.trim().split('\n')).toEqual([
    'larch-sons active gold 2000000',
    'True 1',
    '409 CONFLICT True',
    'free suspended',
    'suspended',
    '[] []',
  ]);
});
