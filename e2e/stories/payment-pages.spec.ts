import { once } from 'node:events';
import http from 'node:http';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { makeOwner, passPhrase } from '../support/people.ts';
import { expect, startService, test } from '../support/service.ts';

test.use({ javaScriptEnabled: false });

/**
 * Starts a proxy of the sandbox's payment provider: its API at 127.0.0.1, and its pages at
 * localhost, which for a browser is another origin, like a custom domain of the company.
 */
async function startPagesElsewhere(port: number, sandboxUrl: () => string) {
  const api = `http://127.0.0.1:${port}`;
  const pages = `http://localhost:${port}`;
  const server = http.createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const { host, connection, 'content-length': _length, ...headers } = request.headers;
    const answer = await fetch(`${sandboxUrl()}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      redirect: 'manual',
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
    });
    const text = (await answer.text()).replaceAll(`${sandboxUrl()}/pay/`, `${pages}/pay/`);
    const location = answer.headers.get('location');
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      ...(location !== null && { location }),
    });
    response.end(text);
  });
  server.listen(port);
  await once(server, 'listening');
  return { api, pages, stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

test('a checkout on a custom domain opens without JavaScript if its origin is configured', async ({
  page,
  playwright,
}) => {
  const port = await freePort();
  let sandboxUrl = '';
  const elsewhere = await startPagesElsewhere(port, () => sandboxUrl);
  const service = await startService({
    environment: { PAYMENT_API_URL: elsewhere.api, PAYMENT_PAGE_ORIGINS: elsewhere.pages },
  });
  sandboxUrl = service.sandboxUrl;
  try {
    const request = await playwright.request.newContext({ baseURL: service.baseUrl });
    const email = await makeOwner(service, request);
    await request.dispose();

    await page.goto(`${service.baseUrl}/login`);
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${service.baseUrl}/onboarding`);
    const billing = await page.goto(`${service.baseUrl}/billing`);
    const policy = billing?.headers()['content-security-policy'] ?? '';
    expect(policy.split('form-action ')[1]).toBe(`'self' ${elsewhere.api} ${elsewhere.pages} ${service.sandboxUrl}`);

    await page.getByRole('button', { name: 'Choose Gold' }).click();
    await page.waitForURL(`${elsewhere.pages}/pay/checkout/**`);
    await expect(page.getByRole('button', { name: /^Pay/ })).toBeVisible();
  } finally {
    await service.stop();
    await elsewhere.stop();
  }
});
