import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/**
 * Sends a request to the stand-in that is answered when `finish` ends its body. Resolves once the service has begun to
 * read it.
 */
export async function openRequest(port: number): Promise<{ finish: () => Promise<number | undefined> }> {
  const sent = request({ port, method: 'POST', path: '/read', headers: { expect: '100-continue' } });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.flushHeaders();
  await once(sent, 'continue');
  return {
    async finish() {
      sent.end();
      const [answer] = await answered;
      return answer.resume().statusCode;
    },
  };
}
