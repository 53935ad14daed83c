import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { parseConfig } from '@gatehouse/api/platform/config';
import { expect, it } from 'vitest';
import { createRefusals } from './refusals.ts';

it('refusals for overload wait before they are sent, at most a thousand of them, and none whose client is gone', async () => {
  const refuse = createRefusals(parseConfig({ DATABASE_URL: 'postgres://localhost/none', LOG_LEVEL: 'error' }));
  function refuseOne() {
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request);
    refuse(request, response, 'overloaded');
    return response;
  }

  const waiting = Array.from({ length: 1000 }, refuseOne);
  expect(waiting.some(({ headersSent }) => headersSent)).toBe(false);
  expect(refuseOne().headersSent).toBe(true);

  const [gone, stays] = waiting as [ServerResponse, ServerResponse];
  gone.emit('close');
  expect(refuseOne().headersSent).toBe(false);
  await expect.poll(() => stays.headersSent).toBe(true);
  expect([stays.statusCode, gone.headersSent]).toEqual([503, false]);
});
